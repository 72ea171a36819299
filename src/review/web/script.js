// SPDX-License-Identifier: Apache-2.0
// Keeps the page of airlock review live.  The page works without it.
//
// - An entry that is there is never replaced, so what the user typed and where the focus is stay.
// - A new question is added below the others, and takes an answer only after SETTLE_MS: a click
//   that was meant for something else decides nothing.
// - A question that no longer waits keeps its place, without its buttons, until nobody looks.
"use strict";

const SETTLE_MS = 500;

const live = document.getElementById("live");
let loading = false;
let again = false;

function say(text) {
    if (live.textContent !== text)
        live.textContent = text;
}

function waitingNow() {
    return document.querySelectorAll("#waiting article:not(.gone)");
}

function tellCount() {
    const count = waitingNow().length;

    document.title = count ? `(${count}) airlock review` : "airlock review";
    say(count === 0 ? "live" : count === 1 ? "live: 1 question waits" : `live: ${count} questions wait`);
}

function setDisabled(article, disabled) {
    for (const control of article.querySelectorAll("button, input"))
        control.disabled = disabled;
}

function addQuestion(section, article) {
    const added = document.importNode(article, true);

    setDisabled(added, true);
    section.append(added);
    setTimeout(() => {
        if (!added.classList.contains("gone"))
            setDisabled(added, false);
    }, SETTLE_MS);
}

function endQuestion(article) {
    const note = document.createElement("p");

    article.classList.add("gone");
    setDisabled(article, true);
    note.className = "notice";
    note.setAttribute("role", "status");
    note.textContent = "This question no longer waits.";
    article.querySelector("h3").after(note);
}

// A page that stays open keeps its times true.
function tellTimes(old, fresh) {
    const times = old.querySelectorAll("time");

    fresh.querySelectorAll("time").forEach((time, i) => { times[i].textContent = time.textContent; });
}

function mergeWaiting(fresh) {
    const section = document.getElementById("waiting");
    const ids = new Set();

    for (const article of fresh.querySelectorAll("article")) {
        const id = CSS.escape(article.dataset.approval);
        const old = section.querySelector(`article[data-approval="${id}"]`);

        ids.add(article.dataset.approval);
        if (!old)
            addQuestion(section, article);
        else
            tellTimes(old, article);
    }
    for (const article of waitingNow())
        if (!ids.has(article.dataset.approval))
            endQuestion(article);
    section.querySelector(".none")?.remove();
    if (!section.querySelector("article") && fresh.querySelector(".none"))
        section.append(document.importNode(fresh.querySelector(".none"), true));
}

// The other sections have links only: they are replaced as a whole, and the focus stays on its link.
function mergeOther(main, fresh, before, id) {
    const old = document.getElementById(id);
    const focused = old?.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const added = fresh ? document.importNode(fresh, true) : null;

    if (old && fresh && old.innerHTML === fresh.innerHTML)
        return old;
    if (old && added)
        old.replaceWith(added);
    else if (old)
        old.remove();
    else if (added)
        before.after(added);
    if (added && focused)
        added.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    return added ?? before;
}

function merge(text) {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const main = document.querySelector("main");
    let before = document.getElementById("waiting");

    mergeWaiting(fresh.getElementById("waiting"));
    for (const id of ["running", "staged", "executions"])
        before = mergeOther(main, fresh.getElementById(id), before, id) ?? before;
    tellCount();
}

async function load() {
    if (loading) {
        again = true;
        return;
    }
    loading = true;
    try {
        do {
            again = false;
            const answer = await fetch("/review/live" + location.search, { cache: "no-store" });

            if (answer.status === 403) {
                say("not live: this link has ended; ask airlock review --web for a new one");
                return;
            }
            if (answer.ok)
                merge(await answer.text());
        } while (again);
    } catch {
        say("not live: the server does not answer");
    } finally {
        loading = false;
    }
}

function removeGone() {
    if (document.visibilityState === "hidden")
        for (const article of document.querySelectorAll("#waiting article.gone"))
            article.remove();
}

// j and k go from question to question; no key alone answers one.
function moveByKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea"))
        return;
    if (event.key !== "j" && event.key !== "k")
        return;
    const links = [...document.querySelectorAll("main article h3 a")];
    const at = links.findIndex((link) => link.closest("article").contains(document.activeElement));
    const next = event.key === "j" ? at + 1 : Math.max(at - 1, 0);

    links[Math.min(next, links.length - 1)]?.focus();
}

const events = new EventSource("/review/events");
events.addEventListener("open", load);
events.addEventListener("change", load);
events.addEventListener("error", () => say("not live: the server does not answer"));
document.addEventListener("visibilitychange", removeGone);
document.addEventListener("keydown", moveByKey);
setInterval(load, 60000);
tellCount();

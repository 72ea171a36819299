#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make everything of a release from the last commit.

  dist.py OUT SCRATCH      artefacts into OUT; built in SCRATCH, which is made anew

The same commit gives the same bytes, whatever the directories, the umask, the time zone and the
locale are.  SIGN_KEY=FILE in the environment: the ssh key that signs the list of sums.
"""
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile

sys.dont_write_bytecode = True
import manifests

TOP = pathlib.Path(__file__).resolve().parent.parent
NAME, PROGRAM, VERSION = manifests.NAME, manifests.PROGRAM, manifests.VERSION
EXECUTABLE = re.compile(r"(^|/)(bin|server)/[^/]+$|\.sh$|^debian/rules$|launch\.mjs$")
HARDENED = "-O2 -fstack-protector-strong -fstack-clash-protection -fcf-protection -ffile-prefix-map={}=."
# The licence of each Debian package that can be in the static program.  Another one is an error.
LICENCES = {
    "libc6-dev": "LGPL-2.1-or-later", "libgcc-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1", "libjansson-dev": "MIT",
    "nettle-dev": "LGPL-3.0-or-later OR GPL-2.0-or-later", "zlib1g-dev": "Zlib",
    "libyaml-dev": "MIT", "libncurses-dev": "X11", "libtomlplusplus-dev": "MIT",
    "libmicrohttpd-dev": "LGPL-2.1-or-later"}
COMMON = pathlib.Path("/usr/share/common-licenses")


def run(*command, cwd=None, **variables):
    """Run a command that must work; what it prints is shown only when it does not."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, env=os.environ | variables)
    if done.returncode:
        sys.stderr.buffer.write(done.stdout[-8000:] + done.stderr[-8000:])
        sys.exit(f"dist: {' '.join(map(str, command[:3]))} failed")
    return done.stdout.decode()


def say(text):
    print(f"== {text}", flush=True)


def mode_of(name):
    return 0o755 if EXECUTABLE.search(name) else 0o644


def tree(directory):
    """{name: bytes, or the target of a symbolic link as str} of all files below a directory."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def put(directory, files):
    """Write {name: text or bytes} below a directory."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode_of(name))


def write_tar(path, top, files, epoch, how):
    """A tar of {name: bytes or link target}, sorted, owned by root, of one time."""
    names = {f"{top}/{name}": content for name, content in files.items()}
    names |= {parent.as_posix(): None for name in list(names)
              for parent in pathlib.PurePosixPath(name).parents if parent.name}
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(names):
            entry, content = tarfile.TarInfo(name), names[name]
            entry.mtime, entry.uname, entry.gname = epoch, "root", "root"
            if content is None:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            elif isinstance(content, str):
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, content, 0o777
            else:
                entry.size, entry.mode = len(content), mode_of(name)
            tar.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    packed = subprocess.run(how, input=raw.getvalue(), stdout=subprocess.PIPE, check=True).stdout
    path.write_bytes(packed)


def write_zip(path, files, epoch):
    """A zip of {name: bytes}, sorted, of one time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode_of(name)) << 16
            archive.writestr(entry, files[name])


def package_of(path):
    """The Debian package that a file is of: name, version, name and version of its source."""
    path = os.path.realpath(path)
    for candidate in (path, path.removeprefix("/usr")):  # /lib is /usr/lib
        done = subprocess.run(["dpkg", "-S", candidate], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            name = done.stdout.split(":")[0]
            form = "${Package}\t${Version}\t${source:Package}\t${source:Version}"
            return tuple(run("dpkg-query", "-W", "-f", form, name).split("\t"))
    sys.exit(f"dist: {path} is linked in and of no package")


def microhttpd(scratch):
    """libmicrohttpd without https, from Debian's source of the version that is installed here.
    Debian's own needs GnuTLS, which cannot be linked.  The directory of its .pc file."""
    version = run("dpkg-query", "-W", "-f", "${source:Version}", "libmicrohttpd-dev")
    source, built = scratch / "microhttpd", scratch / "microhttpd-built"
    run(TOP / "packaging/source.sh", "libmicrohttpd", version, source)
    run("./configure", "--disable-https", "--disable-shared", "--enable-static", "--disable-doc",
        "--disable-examples", "--disable-curl", "--disable-nls", "--disable-bauth", "--disable-dauth",
        "--disable-postprocessor", f"CFLAGS={HARDENED.format(source)} -fPIE", cwd=source)
    run("make", "-C", "src/microhttpd", "libmicrohttpd.la", cwd=source)
    put(built, {"lib/libmicrohttpd.a": (source / "src/microhttpd/.libs/libmicrohttpd.a").read_bytes(),
                "include/microhttpd.h": (source / "src/include/microhttpd.h").read_bytes(),
                "libmicrohttpd.pc": f"prefix={built}\nName: libmicrohttpd\nDescription: without https\n"
                                    f"Version: {version.partition('-')[0]}\nLibs: -L${{prefix}}/lib "
                                    "-lmicrohttpd -pthread\nCflags: -I${prefix}/include\n"})
    return built


def static(source, scratch):
    """Build the static program.  (what is installed as files, the packages that are in it)."""
    built, build, installed = microhttpd(scratch), scratch / "static", scratch / "installed"
    flags = HARDENED.format(source) + f" -ffile-prefix-map={scratch}=."
    # Not meson's b_pie, whose -pie would undo -static-pie.  Every object is for any address anyway.
    link = f"-static-pie -Wl,-z,relro -Wl,-z,now -Wl,-Map={build}/linked.txt"
    run("meson", "setup", build, source, "--prefix=/", "--buildtype=plain", "-Dwerror=false",
        "-Dtests=disabled", "-Dlinked=true", "-Dhttp=enabled", "-Dscreen=enabled",
        "-Dworkers=enabled", "-Dprefer_static=true", f"-Dc_args={flags}",
        f"-Dcpp_args={flags}", f"-Dcpp_link_args={link}",
        PKG_CONFIG_PATH=str(built))
    run("ninja", "-C", build)
    run("meson", "install", "-C", build, "--no-rebuild", DESTDIR=str(installed))
    run("strip", "--strip-all", installed / "bin" / PROGRAM)
    archives = set(re.findall(r"^(/\S+?\.[ao])(?:\(|$)", (build / "linked.txt").read_text(), re.M))
    packages = {package_of(path) for path in archives if not path.startswith(str(scratch))}
    if "libc6-dev" not in {name for name, *_ in packages}:
        sys.exit("dist: the C library is not linked in")
    packages.add(package_of("/usr/include/toml++/toml.h"))
    packages.add(package_of("/usr/include/microhttpd.h"))
    return tree(installed), sorted(packages)


def licences(packages):
    """The licence texts of what is linked in, as Debian has them."""
    texts, common = {}, set()
    for name, *_ in packages:
        text = pathlib.Path(f"/usr/share/doc/{name}/copyright").read_text(encoding="utf-8")
        texts[f"{name}.txt"] = text
        common |= set(re.findall(r"common-licenses/((?:L?GPL|GFDL)-[\d.]*\d)", text))
    for name in sorted(common):
        texts[f"{name}.txt"] = (COMMON / name).read_text(encoding="utf-8")
    return texts


def spdx(packages, tarball, epoch):
    """The list of what is in the static program."""
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    items = [{
        "SPDXID": "SPDXRef-program", "name": NAME, "versionInfo": VERSION,
        "packageFileName": tarball.name, "downloadLocation": f"{manifests.RELEASE}/{tarball.name}",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}], "filesAnalyzed": False,
        "licenseConcluded": manifests.FACTS["license"], "licenseDeclared": manifests.FACTS["license"],
        "copyrightText": "NOASSERTION", "supplier": f"Organization: {manifests.FACTS['author']}"}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-program")]
    for name, version, source, source_version in packages:
        if name not in LICENCES:
            sys.exit(f"dist: {name} is linked in, and LICENCES in packaging/dist.py does not have it")
        identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        items.append({
            "SPDXID": identifier, "name": source, "versionInfo": source_version,
            "comment": "without https, built from this source" if source == "libmicrohttpd"
                       else f"from the package {name} {version}",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": LICENCES[name], "licenseDeclared": LICENCES[name],
            "copyrightText": "NOASSERTION", "supplier": "Organization: Debian",
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{source.replace('+', '%2B')}"
                                    f"@{source_version.replace('+', '%2B')}?arch=source"}]})
        relations.append(("SPDXRef-program", "STATIC_LINK", identifier))
    return manifests.text_of({
        "spdxVersion": "SPDX-2.3", "SPDXID": "SPDXRef-DOCUMENT", "dataLicense": "CC0-1.0",
        "name": f"{NAME}-{VERSION}", "documentNamespace": f"{manifests.RELEASE}/spdx-{digest[:16]}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                         "creators": [f"Tool: {NAME} packaging/dist.py"]},
        "packages": items,
        "relationships": [{"spdxElementId": one, "relationshipType": what, "relatedSpdxElement": other}
                          for one, what, other in relations]})


def deb(source, epoch, out):
    """The Debian package."""
    put(source / "debian", manifests.debian(time.strftime("%a, %d %b %Y %H:%M:%S +0000",
                                                          time.gmtime(epoch))))
    (source / "debian/rules").chmod(0o755)
    run("dpkg-buildpackage", "-b", "-us", "-uc", "-tc", cwd=source,
        DEB_BUILD_OPTIONS=f"noautodbgsym parallel={os.cpu_count()}")
    shutil.move(source.parent / manifests.DEB, out / manifests.DEB)


def sums(out):
    """SHA256SUMS, and its signature where there is a key."""
    names = sorted(path.name for path in out.iterdir() if path.is_file())
    (out / "SHA256SUMS").write_text("".join(
        f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}\n" for name in names))
    if os.environ.get("SIGN_KEY"):
        run("ssh-keygen", "-Y", "sign", "-n", NAME, "-f", os.environ["SIGN_KEY"], out / "SHA256SUMS")
    else:
        print("no SIGN_KEY=FILE was given: SHA256SUMS has no signature")


def signer():
    """The public half of the key that signs; '' without one."""
    key = os.environ.get("SIGN_KEY")
    return " ".join(run("ssh-keygen", "-y", "-f", key).split()[:2]) if key else ""


def make(out, scratch):
    epoch = int(run("git", "log", "-1", "--format=%ct", cwd=TOP))
    os.environ.update(SOURCE_DATE_EPOCH=str(epoch))
    os.umask(0o022)
    for directory in (out, scratch):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    source = scratch / "source"
    source.mkdir()
    with tarfile.open(fileobj=io.BytesIO(subprocess.run(
            ["git", "archive", "HEAD"], cwd=TOP, stdout=subprocess.PIPE, check=True).stdout)) as tar:
        tar.extractall(source)
    say("the static program")
    files, packages = static(source, scratch)
    doc = f"share/doc/{NAME}"
    texts = {f"{doc}/LICENSE": (source / "LICENSE").read_bytes(),
             f"{doc}/README": manifests.filled("static.txt").encode()}
    texts |= {f"{doc}/licences/{name}": text.encode() for name, text in licences(packages).items()}
    tarball = out / manifests.TARBALL
    write_tar(tarball, f"{NAME}-{VERSION}", files | texts, epoch, ["xz", "-9e", "-T1"])
    (out / manifests.SPDX).write_text(spdx(packages, tarball, epoch), encoding="utf-8")
    say("what is made of it: npm, MCP bundle, plugins")
    program = files[f"bin/{PROGRAM}"]
    whole = {name: content for name, content in (files | texts).items() if isinstance(content, bytes)}
    for name, content in ((NAME, manifests.npm_launcher()), (manifests.NATIVE, manifests.npm_native() | whole)):
        write_tar(out / f"{name}-{VERSION}.tgz", "package",
                  {key: value if isinstance(value, bytes) else value.encode()
                   for key, value in content.items()}, epoch, ["gzip", "-9n"])
    write_zip(out / manifests.BUNDLE, {
        "manifest.json": manifests.text_of(manifests.bundle()).encode(),
        f"server/{PROGRAM}": program} | {
            name.removeprefix(f"{doc}/"): text for name, text in texts.items()}, epoch)
    digest = hashlib.sha256((out / manifests.BUNDLE).read_bytes()).hexdigest()
    (out / "server.json").write_text(manifests.text_of(manifests.server_json(digest)), encoding="utf-8")
    plugin = {name: text.encode() for name, text in manifests.plugins().items()}
    plugin["LICENSE"] = (source / "LICENSE").read_bytes()
    write_tar(out / manifests.PLUGINS, NAME, plugin, epoch, ["xz", "-9e", "-T1"])
    put(out, {"install.sh": manifests.filled("install.sh", signer=signer())})
    say("the Debian package")
    deb(source, epoch, out)
    sums(out)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    out, scratch = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    make(out, scratch)
    shutil.rmtree(scratch)
    if run("git", "status", "--porcelain", cwd=TOP):
        print("the work tree has changes that are not in the last commit, and so not here")
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:10,}  {path.name}")


if __name__ == "__main__":
    main()

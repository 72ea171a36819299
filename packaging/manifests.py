# SPDX-License-Identifier: Apache-2.0
"""What each channel wants to be told about the program, made from packaging/facts.json alone.

Nothing is built and nothing is read but the files beside this one, so that a test can look at all of
it in a moment.
"""
import json
import pathlib
import re

HERE = pathlib.Path(__file__).parent
FACTS = json.loads((HERE / "facts.json").read_text(encoding="utf-8"))
NAME, PROGRAM, VERSION = FACTS["name"], FACTS["program"], FACTS["version"]
NATIVE = f"{NAME}-linux-x64"  # the npm package with the program
TARBALL = f"{NAME}-{VERSION}-linux-x86_64.tar.xz"
BUNDLE = f"{NAME}-{VERSION}-mcp-linux-x86_64.mcpb"  # the registry wants "mcp" in its address
PLUGINS = f"{NAME}-{VERSION}-plugins.tar.xz"
DEB = f"{NAME}_{VERSION}_amd64.deb"
SPDX = f"{NAME}-{VERSION}.spdx.json"
RELEASE = f"{FACTS['homepage']}/releases/download/v{VERSION}"
SCHEMA = "https://agent-plugins.org/schemas/1.0.0"


def text_of(value):
    """JSON as a person would write it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def filled(name, **more):
    """A template beside this file, with each @fact@ in it replaced."""
    values = FACTS | {"tarball": TARBALL, "release": RELEASE} | more
    text = (HERE / name).read_text(encoding="utf-8")
    return re.sub(r"@([a-z_]+)@", lambda match: str(values[match.group(1)]), text)


def wrapped(text, width):
    """A text in lines of at most `width` characters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def about():
    """What most manifests have in common."""
    return {"name": NAME, "version": VERSION, "description": FACTS["description"]}


def package_json(**more):
    """What both npm packages have in common."""
    return about() | {
        "license": FACTS["license"], "author": FACTS["author"], "homepage": FACTS["homepage"],
        "repository": {"type": "git", "url": f"git+{FACTS['homepage']}.git"}} | more


def npm_launcher():
    """The files of the npm package that people install: it only starts the program of the other one."""
    manifest = package_json(
        keywords=FACTS["keywords"], mcpName=FACTS["registry_name"],
        bin={NAME: "launch.mjs", PROGRAM: "launch.mjs"}, files=["launch.mjs"], type="module",
        engines={"node": ">=18"}, optionalDependencies={NATIVE: VERSION})
    return {"package.json": text_of(manifest), "launch.mjs": filled("npm/launch.mjs", native=NATIVE),
            "README.md": filled("npm/README.md")}


def npm_native():
    """The same of the package with the program, which is added to it."""
    manifest = package_json(name=NATIVE, os=["linux"], cpu=["x64"], files=["bin", "share"])
    return {"package.json": text_of(manifest),
            "README.md": f"The program of the package {NAME}, for Linux on x86_64.\n"}


def bundle():
    """manifest.json of the MCP bundle."""
    return {
        "manifest_version": "0.3", "display_name": FACTS["title"]} | about() | {
        "long_description": FACTS["about"],
        "author": {"name": FACTS["author"], "url": FACTS["homepage"]},
        "repository": {"type": "git", "url": f"{FACTS['homepage']}.git"},
        "homepage": FACTS["homepage"], "license": FACTS["license"], "keywords": FACTS["keywords"],
        "server": {
            "type": "binary", "entry_point": f"server/{PROGRAM}",
            "mcp_config": {"command": "${__dirname}/server/" + PROGRAM,
                           "args": ["serve", "--root", "${user_config.root}"], "env": {}}},
        "tools_generated": True,
        "user_config": {"root": {
            "type": "directory", "title": "Repository", "required": True,
            "description": "The repository, or a directory with repositories, that the agent may use."}},
        "compatibility": {"platforms": FACTS["platforms"]}}


def server_json(bundle_sha256):
    """The entry of the MCP registry."""
    serve = {"transport": {"type": "stdio"}}
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": FACTS["registry_name"], "title": FACTS["title"],
        "description": FACTS["description"], "version": VERSION,
        "repository": {"url": FACTS["homepage"], "source": "github"},
        "packages": [
            {"registryType": "npm", "identifier": NAME, "version": VERSION, "runtimeHint": "npx",
             "packageArguments": [{"type": "positional", "value": "serve"}]} | serve,
            {"registryType": "mcpb", "identifier": f"{RELEASE}/{BUNDLE}",
             "fileSha256": bundle_sha256} | serve]}


def plugins():
    """One directory that is a plugin for every client: Agent Plugins 1.0 at the top, and beside it
    what Claude Code and Gemini want in their own places."""
    author = {"name": FACTS["author"], "url": FACTS["homepage"]}
    common = about() | {
        "author": author, "homepage": FACTS["homepage"], "repository": FACTS["homepage"],
        "license": FACTS["license"], "keywords": FACTS["keywords"]}
    stdio = {"type": "stdio", "command": PROGRAM, "args": ["serve"]}
    claude = common | {"mcpServers": {PROGRAM: stdio}, "hooks": "./hooks/claude-code.json"}
    market = {
        "name": NAME, "owner": author, "metadata": {"description": FACTS["description"]},
        "plugins": [about() | {"source": "./", "category": "development"}]}
    gemini = about() | {"mcpServers": {PROGRAM: {"command": PROGRAM, "args": ["serve"]}}}
    return {
        "plugin.json": text_of({"$schema": f"{SCHEMA}/plugin.schema.json"} | common),
        "mcp.json": text_of({"$schema": f"{SCHEMA}/mcp.schema.json", "mcpServers": {PROGRAM: stdio}}),
        "README.md": filled("plugin/README.md"),
        "skills/airlock/SKILL.md": filled("plugin/skills/airlock/SKILL.md"),
        ".claude-plugin/plugin.json": text_of(claude),
        ".claude-plugin/marketplace.json": text_of(market),
        "hooks/claude-code.json": filled("plugin/hooks/claude-code.json"),
        "hooks/session-start.sh": filled("plugin/hooks/session-start.sh"),
        "gemini-extension.json": text_of(gemini)}


def debian(date):
    """The directory debian/; `date` is that of its changelog, in the form of an e-mail."""
    described = "".join(f" {line}\n" for line in wrapped(FACTS["about"], 76))
    changelog = (f"{NAME} ({VERSION}) unstable; urgency=medium\n\n  * Release {VERSION}; its changes "
                 f"are in CHANGELOG.md.\n\n -- {FACTS['author']} <{FACTS['email']}>  {date}\n")
    return {
        "control": filled("debian/control", about=described.rstrip("\n"),
                          synopsis=FACTS["description"].partition(":")[0]),
        "copyright": filled("debian/copyright"), "rules": filled("debian/rules"),
        "changelog": changelog, "source/format": "3.0 (native)\n"}

# SPDX-License-Identifier: Apache-2.0
"""The rules of those who take the packages, as far as they are known without asking them.

Each function returns what is wrong, one line a complaint.
"""
import re

import manifests

SEMVER = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
SERVER_NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
PLUGIN_NAME = re.compile(r"(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
SKILL_MEMBERS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


def unknown(value, allowed, where):
    """Members that a closed schema does not have."""
    return [f"{where}: unknown member {name}" for name in value if name not in allowed]


def text(value, where, least, most):
    """A string of a length between two."""
    good = isinstance(value, str) and least <= len(value) <= most
    return [] if good else [f"{where}: not a text of {least} to {most} characters"]


def package(value, server, npm_name):
    """A package of server.json, and what the registry checks beyond its schema."""
    wrong = unknown(value, ("registryType", "identifier", "version", "fileSha256", "runtimeHint",
                            "transport", "runtimeArguments", "packageArguments",
                            "environmentVariables"), "package")
    if value.get("transport") != {"type": "stdio"}:
        wrong.append("package: the transport is not stdio")
    if value.get("registryType") == "npm":
        if not SEMVER.fullmatch(value.get("version", "")) or value["version"] != server["version"]:
            wrong.append("npm: the version is not that of the server")
        if npm_name != server["name"]:
            wrong.append("npm: mcpName of package.json is not the server's name")
    elif value.get("registryType") == "mcpb":
        if not re.fullmatch("[a-f0-9]{64}", value.get("fileSha256", "")):
            wrong.append("mcpb: no fileSha256")
        if not re.fullmatch(r"https://(github|gitlab)\.com/.*mcp.*", value.get("identifier", "")):
            wrong.append("mcpb: not at a release of GitHub or GitLab, or its address has no 'mcp'")
        if "version" in value:
            wrong.append("mcpb: the version is in the address")
    else:
        wrong.append(f"package: type {value.get('registryType')}")
    return wrong


def server(value, npm_name):
    """server.json, schema 2025-12-11."""
    wrong = unknown(value, ("$schema", "name", "title", "description", "version", "repository",
                            "websiteUrl", "icons", "packages", "remotes", "_meta"), "server.json")
    wrong += text(value.get("name"), "name", 3, 200) + text(value.get("title"), "title", 1, 100)
    wrong += text(value.get("description"), "description", 1, 100)
    if not SERVER_NAME.fullmatch(value.get("name", "")):
        wrong.append("name: not NAMESPACE/NAME")
    owner = re.fullmatch(r"io\.github\.([^/]+)/.*", value.get("name", ""))
    if not owner or not value["repository"]["url"].startswith(f"https://github.com/{owner.group(1)}/"):
        wrong.append("name: the namespace is not that of the repository's owner")
    if not SEMVER.fullmatch(value.get("version", "")):
        wrong.append("version: not one version")
    identifiers = [item.get("identifier") for item in value["packages"]]
    if len(set(identifiers)) != len(identifiers):
        wrong.append("packages: one is there twice")
    for item in value["packages"]:
        wrong += package(item, value, npm_name)
    return wrong


def skill(content, directory):
    """SKILL.md of Agent Skills."""
    match = re.match(r"---\n(.*?)\n---\n", content, re.S)
    if not match:
        return ["SKILL.md: no frontmatter"]
    members = dict(line.split(": ", 1) for line in match.group(1).splitlines())
    wrong = unknown(members, SKILL_MEMBERS, "SKILL.md")
    wrong += text(members.get("description"), "SKILL.md: description", 1, 1024)
    if members.get("name") != directory:
        wrong.append("SKILL.md: the name is not that of its directory")
    if len(content.splitlines()) > 40:
        wrong.append("SKILL.md: more than 40 lines")
    return wrong


def plugin(value, servers):
    """plugin.json and mcp.json of Agent Plugins 1.0.0, whose schemas are closed."""
    wrong = unknown(value, ("$schema", "name", "version", "description", "author", "homepage",
                            "repository", "license", "keywords", "extensions"), "plugin.json")
    wrong += unknown(value.get("author", {}), ("name", "email", "url"), "plugin.json: author")
    if value.get("$schema") != f"{manifests.SCHEMA}/plugin.schema.json":
        wrong.append("plugin.json: $schema")
    if not PLUGIN_NAME.fullmatch(value.get("name", "")) or len(value["name"]) > 64:
        wrong.append("plugin.json: name")
    wrong += unknown(servers, ("$schema", "mcpServers"), "mcp.json")
    if servers.get("$schema") != f"{manifests.SCHEMA}/mcp.schema.json":
        wrong.append("mcp.json: $schema")
    for one in servers["mcpServers"].values():
        wrong += unknown(one, ("type", "command", "args", "env", "cwd"), "mcp.json: server")
        if one.get("type") != "stdio" or not one.get("command"):
            wrong.append("mcp.json: a server without type or command")
    return wrong

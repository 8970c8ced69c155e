// Updates of the agent: what it accepts, which version it runs, and what a crash at any step leaves.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sha256Of, UpdateFolder } from "../../src/agent/updates/folder.ts";
import { chooseVersion } from "../../src/agent/updates/launch.ts";
import { Updater, type UpdaterParts } from "../../src/agent/updates/updater.ts";
import { type AgentUpdate, isNewer, updateStatement, versionInFile } from "../../src/agent-wire/update.ts";

let stateDir: string;
let lines: string[];
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-updates-"));
  lines = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(stateDir, { recursive: true });
});

const server = generateKeyPairSync("ed25519");
const spki = (key: KeyObject) => key.export({ type: "spki", format: "der" }).toString("base64");
const fileOf = (version: string) => Buffer.from(`the agent ${version}`);
const log: UpdaterParts["log"] = (level, message) => lines.push(`${level}: ${message}`);

function offer(version: string, key = server.privateKey, file = fileOf(version)): AgentUpdate {
  const statement = { version, sha256: sha256Of(file), size: file.length };
  return { ...statement, signature: sign(null, updateStatement(statement), key).toString("base64") };
}

const updater = (version: string, parts: Partial<UpdaterParts> = {}) =>
  new Updater({
    ...{ stateDir, version, started: null, log, scale: 0 },
    key: () => spki(server.publicKey),
    fetch: async () => fileOf("1.1.0"),
    ...parts,
  });
const choose = (own = "1.0.0") => chooseVersion({ stateDir, installed: own, log });
const state = () => new UpdateFolder(stateDir).read();
const files = async () => (await readdir(join(stateDir, "updates"))).filter((name) => name.endsWith(".mjs"));

/** Takes and confirms an update, as the agent does over one restart. */
async function updateTo(version: string, from: string): Promise<void> {
  expect(await updater(from, { fetch: async () => fileOf(version) }).take(offer(version))).toBe(true);
  const chosen = await choose();
  expect(chosen).toMatchObject({ version, isTrial: true });
  await updater(version, { started: chosen!.sha256 }).confirm();
}

describe("an update", () => {
  it("is tried, and stays once it has checked in; the last one is kept", async () => {
    await updateTo("1.1.0", "1.0.0");
    expect(await choose()).toMatchObject({ version: "1.1.0", isTrial: false });
    await updateTo("1.2.0", "1.1.0");
    await updateTo("1.3.0", "1.2.0");
    expect(await state()).toMatchObject({ current: { version: "1.3.0" }, previous: { version: "1.2.0" }, trial: null });
    expect(await files()).toHaveLength(2);
    // The last one runs if the newest is damaged.
    await writeFile(new UpdateFolder(stateDir).fileOf((await state()).current!), "damaged");
    expect(await choose()).toMatchObject({ version: "1.2.0" });
  });

  it.each([
    ["is signed by another key", () => offer("1.1.0", generateKeyPairSync("ed25519").privateKey), "has not signed it"],
    ["has the signature of another version", () => ({ ...offer("1.1.0"), version: "1.2.0" }), "has not signed it"],
    ["has the signature of another file", () => ({ ...offer("1.1.0"), sha256: "0".repeat(64) }), "has not signed it"],
    ["has no signature", () => ({ ...offer("1.1.0"), signature: "" }), "has not signed it"],
    ["is older", () => offer("0.9.0"), "not newer than 1.0.0"],
    ["is the same", () => offer("1.0.0"), "not newer than 1.0.0"],
    ["has no version", () => offer("new"), "not newer than 1.0.0"],
    ["is empty", () => offer("1.1.0", server.privateKey, Buffer.alloc(0)), "0 bytes"],
  ])("is refused if it %s, and that is logged once", async (_, made, reason) => {
    const fetch = vi.fn(async () => fileOf("1.1.0"));
    const agent = updater("1.0.0", { fetch });
    expect([await agent.take(made()), await agent.take(made())]).toEqual([false, false]);
    expect(fetch).not.toHaveBeenCalled();
    expect(lines).toEqual([expect.stringContaining(reason)]);
    expect(await choose()).toBe(null);
  });

  it("is refused by an agent that has no key", async () => {
    expect(await updater("1.0.0", { key: () => null }).take(offer("1.1.0"))).toBe(false);
    expect(lines).toEqual([expect.stringContaining("no key for updates")]);
  });

  it("is not run if the server sends another file, and is fetched again later", async () => {
    let sent = Buffer.from("another");
    const agent = updater("1.0.0", { fetch: async () => sent });
    expect(await agent.take(offer("1.1.0"))).toBe(false);
    expect(lines).toEqual([expect.stringContaining("not what it has signed")]);
    expect(await choose()).toBe(null);
    sent = fileOf("1.1.0");
    expect(await agent.take(offer("1.1.0"))).toBe(true);
  });

  it("goes back after three starts without a check-in, and is tried again a day later", async () => {
    await updateTo("1.1.0", "1.0.0");
    const next = () => updater("1.1.0", { fetch: async () => fileOf("1.2.0") }).take(offer("1.2.0"));
    expect(await next()).toBe(true);
    for (let start = 0; start < 3; start++) expect(await choose()).toMatchObject({ version: "1.2.0", isTrial: true });
    expect(await choose()).toMatchObject({ version: "1.1.0", isTrial: false });
    expect(lines.at(-1)).toContain("ended 3 times before it had checked in");
    expect(await next()).toBe(false);
    vi.useFakeTimers({ now: Date.now() + 24 * 3_600_000, toFake: ["Date"] });
    expect(await next()).toBe(true);
    expect(await choose()).toMatchObject({ version: "1.2.0", isTrial: true });
  });

  it("goes back at once if its time is over, or its file damaged", async () => {
    const folder = new UpdateFolder(stateDir);
    await updater("1.0.0").take(offer("1.1.0"));
    const { sha256 } = (await state()).trial!;
    await writeFile(folder.overdueFile, sha256);
    expect(await choose()).toBe(null);
    expect((await state()).failed).toMatchObject({ version: "1.1.0", reason: "did not check in" });
    await updater("1.0.0", { fetch: async () => fileOf("1.2.0") }).take(offer("1.2.0"));
    await writeFile(folder.fileOf((await state()).trial!), "damaged");
    expect(await choose()).toBe(null);
    expect((await state()).failed).toMatchObject({ version: "1.2.0", reason: "is damaged" });
  });

  it("does not replace an installed agent that is as new", async () => {
    await updateTo("1.1.0", "1.0.0");
    expect(await choose("1.1.0")).toBe(null);
    expect(await choose("2.0.0")).toBe(null);
    expect(await choose("1.0.9")).toMatchObject({ version: "1.1.0" });
  });

  it("is confirmed only by the version that is on trial", async () => {
    await updater("1.0.0").take(offer("1.1.0"));
    await updater("1.0.0").confirm();
    expect((await state()).trial).toMatchObject({ version: "1.1.0", starts: 0 });
  });

  it("leaves a whole state if the agent is killed before any of its steps", async () => {
    const folder = new UpdateFolder(stateDir);
    await updateTo("1.1.0", "1.0.0");
    // While the file is written, and between the file and the state.
    await writeFile(join(folder.path, "agent-x.mjs.1.tmp"), "half");
    await writeFile(folder.fileOf({ version: "1.2.0", sha256: "1".repeat(64) }), "whole");
    expect(await choose()).toMatchObject({ version: "1.1.0", isTrial: false });
    // The next attempt removes both.
    await updater("1.1.0", { fetch: async () => fileOf("1.2.0") }).take(offer("1.2.0"));
    expect((await readdir(folder.path)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    expect(await files()).toHaveLength(2);
    // Before the new version was started: it is started once more.
    expect(await choose()).toMatchObject({ version: "1.2.0" });
    expect((await state()).trial).toMatchObject({ starts: 1 });
    // A damaged state: the installed version runs, and updates again.
    await writeFile(folder.stateFile, "{");
    expect(await choose()).toBe(null);
    await updateTo("1.2.0", "1.0.0");
  });

  it("is not tried if its start cannot be counted", async () => {
    await updater("1.0.0").take(offer("1.1.0"));
    const folder = new UpdateFolder(stateDir);
    const write = vi.spyOn(UpdateFolder.prototype, "write").mockRejectedValue(new Error("ENOSPC"));
    expect(await choose()).toBe(null);
    write.mockRestore();
    expect((await folder.read()).trial).toMatchObject({ starts: 0 });
    await mkdir(folder.path, { recursive: true });
    expect(await choose()).toMatchObject({ version: "1.1.0" });
  });
});

it("compares versions by their numbers", () => {
  expect([isNewer("1.10.0", "1.9.9"), isNewer("1.0.0", "1.0.0-rc.1"), isNewer("2.0.0-rc.1", "1.9.9")]).toEqual([
    true,
    true,
    true,
  ]);
  for (const one of ["1.0", "1.0.0.0", "v1.0.1", "1.0.1\n", "", "1.0.0-rc.2"])
    expect(isNewer(one, "1.0.0")).toBe(false);
  expect(versionInFile("#!/usr/bin/env node\n// svc-agent 1.2.3\nimport")).toBe("1.2.3");
  expect(versionInFile("import")).toBe(null);
});

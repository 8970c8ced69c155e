// The agent's settings from managed preferences of a Mac.
import { describe, expect, it } from "vitest";
import { managedPreferences, preferencesIn } from "../../src/agent/preferences.ts";
import { readSetup } from "../../src/agent/setup.ts";

const managed = async () => ({ serverUrl: "https://managed.example.com/", enrollSecret: "managed" });

describe("managed preferences", () => {
  it("configure an agent that gets no flags", async () => {
    expect(await readSetup({ scripts: true }, {}, managed)).toMatchObject({
      serverUrl: "https://managed.example.com",
      enrollSecret: "managed",
    });
    expect(await readSetup({ scripts: true }, { SVC_ENROLL_SECRET: "own" }, managed)).toMatchObject({
      enrollSecret: "own",
    });
  });

  it("bring no other server the secret", async () => {
    const other = { "server-url": "https://other.example.com", scripts: true };
    await expect(readSetup(other, {}, managed)).rejects.toThrow(/--enroll-secret-file FILE is required/);
  });

  it("may be missing, or anything", async () => {
    expect(await managedPreferences("linux")).toEqual({});
    expect(preferencesIn('{"ServerURL": "https://a", "EnrollSecret": "b", "Other": 1}')).toEqual({
      serverUrl: "https://a",
      enrollSecret: "b",
    });
    for (const json of ["null", "[]", '{"ServerURL": 1, "EnrollSecret": {}}']) expect(preferencesIn(json)).toEqual({});
    await expect(readSetup({ scripts: true }, {}, async () => ({}))).rejects.toThrow(/--server-url URL is required/);
    const bad = async () => ({ serverUrl: "ftp://x", enrollSecret: "b" });
    await expect(readSetup({ scripts: true }, {}, bad)).rejects.toThrow(/--server-url URL is required/);
  });
});

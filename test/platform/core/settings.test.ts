import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { settingsPage } from "../../../src/server/platform/core/settings/page.ts";
import { readSettings, settingsTable } from "../../../src/server/platform/core/settings/sources.ts";

const fileWith = (text: string): string => {
  const file = join(mkdtempSync(join(tmpdir(), "svc-settings-")), "svc.yml");
  writeFileSync(file, text);
  return file;
};

describe("settings", () => {
  it("prefer the flag to the environment, the environment to the file, the file to the default", () => {
    const file = fileWith("port: 1001\nhost: 0.0.0.1\nlog_level: warn\n");
    const settings = readSettings({ flags: { port: 1003 }, env: { SVC_PORT: "1002", SVC_HOST: "0.0.0.2" }, file });
    expect(settings).toMatchObject({ port: 1003, host: "0.0.0.2", log_level: "warn", workers: 1 });
  });

  it("read nested keys of the file and durations in all spellings", () => {
    const file = fileWith("live_query:\n  rest_period: 500ms\nsession-duration: 24h\nenroll_cooldown: 90\n");
    const settings = readSettings({ flags: {}, env: {}, file });
    expect(settings).toMatchObject({
      live_query_rest_period: 500,
      session_duration: 86_400_000,
      enroll_cooldown: 90_000,
    });
  });

  it("parse flags in the environment as words, not as truthy text", () => {
    expect(readSettings({ flags: {}, env: { SVC_DEV_LICENSE: "false" } }).dev_license).toBe(false);
    expect(readSettings({ flags: {}, env: { SVC_DEV_LICENSE: "1" } }).dev_license).toBe(true);
  });

  it.each([
    [{ SVC_PORT: "99999" }, /SVC_PORT: /],
    [{ SVC_SESSION_DURATION: "5 weeks" }, /SVC_SESSION_DURATION: must be a duration/],
    [{ SVC_DEV_LICENSE: "maybe" }, /SVC_DEV_LICENSE/],
    [{ SVC_WORKERS: "2" }, /workers: .*database_url/],
    [{ SVC_DATABASE_URL: "mysql://x/y" }, /database_url: must begin with postgres/],
    [{ SVC_TRUSTED_PROXIES: "10.0.0.0/8,nonsense" }, /trusted_proxies: nonsense/],
    [{ SVC_ADMIN_EMAIL: "a@b.c" }, /admin_email and admin_password/],
  ])("refuse %o with the setting's name", (env, message) => {
    expect(() => readSettings({ flags: {}, env })).toThrow(message);
  });

  it("of the wrong type are refused in plain words", () => {
    for (const [env, message] of [
      [{ SVC_PORT: "x" }, "SVC_PORT: must be a number"],
      [{ SVC_PORT: "1.5" }, "SVC_PORT: must be a whole number"],
      [{ SVC_PORT: "99999" }, "SVC_PORT: must be at most 65535"],
      [{ SVC_TLS_SELF_SIGNED: "maybe" }, "SVC_TLS_SELF_SIGNED: must be true or false"],
    ] as const)
      expect(() => readSettings({ flags: {}, env })).toThrow(new Error(message));
    const file = fileWith("host: 1\ntrusted_proxies: 7\n");
    expect(() => readSettings({ flags: {}, env: {}, file })).toThrow(
      `host in ${file}: must be a string\ntrusted_proxies in ${file}: must be a list`,
    );
  });

  it("refuse an unknown key of the file, and a file that is not a mapping", () => {
    expect(() => readSettings({ flags: {}, env: {}, file: fileWith("prot: 1\n") })).toThrow(
      /prot in .*: no such setting/,
    );
    expect(() => readSettings({ flags: {}, env: {}, file: fileWith("- 1\n") })).toThrow(/must be a mapping/);
  });

  it("are all described, and docs/settings.md is generated from them", () => {
    expect(settingsTable().filter(({ description }) => description === "")).toEqual([]);
    const page = readFileSync(new URL("../../../docs/settings.md", import.meta.url), "utf8");
    expect(page, "run: npm run docs:settings").toBe(settingsPage());
  });
});

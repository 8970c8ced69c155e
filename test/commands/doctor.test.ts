import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { Send } from "../../src/client/transport.ts";
import { root, runCli } from "../support/cli.ts";

const pjson = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const rows = ({ stdout }: { stdout: string }): Record<string, string> =>
  Object.fromEntries(JSON.parse(stdout).map(({ check, status }: Record<string, string>) => [check, status]));

const healthy =
  (headers: Record<string, string> = {}): Send =>
  async (url) =>
    url.endsWith("/me")
      ? new Response(JSON.stringify({ user: { email: "a@b.c" } }), { headers })
      : new Response('{"status":"ok"}', { headers });
const env = { SVC_API_TOKEN: "t" };

describe("doctor", () => {
  it("reports no problem if there is none", async () => {
    const send = healthy({ date: "Sun, 01 Mar 2026 12:00:01 GMT", "x-svc-version": pjson.version });
    const result = await runCli(["doctor", "-o", "json"], { send, env });
    expect(result.exitCode).toBe(0);
    expect(rows(result)).toMatchObject({
      node: "ok",
      settings: "ok",
      connection: "ok",
      health: "ok",
      clock: "ok",
      "sign-in": "ok",
      version: "ok",
    });
  });

  it("keeps check and status on a narrow terminal, and continues details and hints on the next lines", async () => {
    const send: Send = async () => new Response('{"status":"ok"}', { headers: { "x-svc-version": pjson.version } });
    const tty = { stdout: true };
    const { stdout, stderr } = await runCli(["doctor"], { send, tty, columns: 80 });
    const lines = stdout.split("\n");
    expect(stripVTControlCharacters(lines[0]!)).toMatch(/CHECK +STATUS +DETAIL +HINT/);
    expect(Math.max(...lines.map((line) => stripVTControlCharacters(line).length))).toBeLessThanOrEqual(80);
    expect(stdout.replace(/\s+/g, " ")).toContain("keyring");
    expect(stdout).not.toContain("…");
    expect(stderr).not.toContain("do not fit");
  });

  it("warns of a proxy that the server does not trust, and names the flag", async () => {
    const send: Send = async (url) =>
      url.endsWith("/me")
        ? new Response(JSON.stringify({ user: { email: "a@b.c", global_role: "admin" } }), {
            headers: { "x-svc-warning": "untrusted-proxy" },
          })
        : new Response('{"status":"ok"}');
    const result = await runCli(["doctor", "-o", "json"], { send, env });
    expect(rows(result)).toMatchObject({ "sign-in": "ok", proxy: "warning" });
    expect(result.stdout).toContain("--trusted-proxies");
  });

  it("warns of Apple devices that the server's URL has left behind", async () => {
    const replies = {
      "/mdm/vendora/status": { expiring: [], devices_to_enroll_again: 2 },
      "/me": { user: { email: "a@b.c", global_role: "admin" } },
    };
    const send: Send = async (url, init) => {
      const [, reply] = Object.entries(replies).find(([path]) => url.endsWith(path)) ?? [];
      return reply === undefined ? healthy()(url, init) : new Response(JSON.stringify(reply));
    };
    const result = await runCli(["doctor", "-o", "json"], { send, env });
    expect(JSON.parse(result.stdout)).toContainEqual({
      check: "enrolled Apple devices",
      status: "warning",
      detail: "2 Apple devices are enrolled with another URL of this server, and do not connect to this one",
      hint: expect.stringContaining("Set the URL back"),
    });
  });

  it("warns if the directory does not accept what is reported of devices", async () => {
    const connection = {
      directory_tenant_id: "11111111-2222-3333-4444-555555555555",
      connected: true,
      devices: { compliant: 3, noncompliant: 1, unreported: 2, failing: 2 },
      last_reported_at: null,
      paused_until: null,
      last_error: "",
    };
    const check = async (more: Partial<typeof connection>) => {
      const send: Send = async (url, init) => {
        if (url.endsWith("/me"))
          return new Response(JSON.stringify({ user: { email: "a@b.c", global_role: "admin" } }));
        if (url.endsWith("/conditional-access/directory"))
          return new Response(JSON.stringify({ ...connection, ...more }));
        return url.endsWith("/healthz") ? healthy()(url, init) : new Response("{}", { status: 404 });
      };
      const { stdout } = await runCli(["doctor", "-o", "json"], { send, env });
      const found = (JSON.parse(stdout) as Record<string, string>[]).find((one) => one.check === "conditional access");
      return found && [found.status, found.detail];
    };
    expect(await check({})).toEqual(["warning", "2 devices are not reported to the directory"]);
    expect(await check({ last_error: "no credentials" })).toEqual(["warning", "no credentials"]);
    expect(await check({ devices: { ...connection.devices, failing: 0 } })).toEqual([
      "ok",
      "4 devices are reported to the directory",
    ]);
    expect(await check({ connected: false })).toBeUndefined();
  });

  it("warns if the server cannot store files, as status does", async () => {
    const text = '{"status":"ok","warnings":{"blobs":"the bucket is away"}}';
    const send: Send = async (url) =>
      url.endsWith("/healthz")
        ? new Response(text)
        : new Response(JSON.stringify(url.endsWith("/me") ? { user: { email: "a@b.c" } } : { version: pjson.version }));
    const result = await runCli(["doctor", "-o", "json"], { send, env });
    expect(result.exitCode).toBe(0);
    expect(JSON.parse(result.stdout)).toContainEqual({
      check: "health",
      status: "warning",
      detail: "blobs: the bucket is away",
      hint: expect.stringContaining("--blobs-url"),
    });
    const refusing: Send = (url, init) =>
      /\/(config|host_summary)$/.test(url) ? new Response("{}", { status: 403 }) : send(url, init);
    const status = await runCli(["status", "-o", "json"], { send: refusing, env });
    expect(JSON.parse(status.stdout)).toMatchObject({ health: "ok", warnings: ["blobs: the bucket is away"] });
    expect((await runCli(["status"], { send: refusing, env })).stdout).toContain("the bucket is away");
  });

  it("works with the server down, and gives advice", async () => {
    const { exitCode, stdout, stderr } = await runCli(["doctor"], { env });
    expect(exitCode).toBe(8);
    expect(stdout).toContain("no server is listening at 127.0.0.1:8412");
    expect(stdout).toContain("svc serve");
    expect(stderr).toContain("failed: connection");
  });

  it("reports a wrong clock, an old server and an invalid token", async () => {
    const send: Send = async (url, init) => {
      if (url.endsWith("/me")) return new Response("{}", { status: 401 });
      return healthy({ date: "Sun, 01 Mar 2026 11:00:00 GMT", "x-svc-version": "9.0.0" })(url, init);
    };
    const result = await runCli(["doctor", "-o", "json"], { send, env });
    expect(result.exitCode).toBe(1);
    expect(rows(result)).toMatchObject({ clock: "warning", version: "warning", "sign-in": "failed" });
  });

  it("reports an untrusted certificate", async () => {
    const send: Send = () =>
      Promise.reject(Object.assign(new Error("self-signed"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }));
    const result = await runCli(["doctor", "-o", "json", "--server-url", "https://svc.test"], { send, env });
    expect(result.exitCode).toBe(8);
    expect(rows(result)).toMatchObject({ certificate: "failed" });
    expect(result.stdout).toContain("--ca-file");
  });

  it("reports an unhealthy server, and invalid settings", async () => {
    const sick: Send = async (url, init) =>
      url.endsWith("/healthz") ? new Response('{"status":"store"}', { status: 503 }) : healthy()(url, init);
    expect((await runCli(["doctor"], { send: sick, env })).exitCode).toBe(1);
    expect((await runCli(["doctor", "--server-url", "nonsense"], { env })).stdout).toContain(
      "is not the URL of a server",
    );
  });
});

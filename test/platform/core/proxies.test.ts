import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { callerOf, hasUntrustedProxy, peerAddress } from "../../../src/server/platform/core/http/proxies.ts";
import { Settings } from "../../../src/server/platform/core/settings/settings.ts";
import { startApp } from "../../support/app.ts";
import { runningOf } from "../../support/running.ts";

const from = (trusted: string[], peer: string, forwarded?: string) =>
  peerAddress(
    { trusted_proxies: trusted },
    peer,
    new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }),
  );

describe("the caller's address", () => {
  it("is the peer's, whatever the headers contain, if no proxy is trusted", () => {
    expect(from([], "203.0.113.9", "10.1.1.1")).toBe("203.0.113.9");
  });
  it("is the peer's if the peer is not a trusted proxy", () => {
    expect(from(["192.0.2.0/24"], "203.0.113.9", "10.1.1.1")).toBe("203.0.113.9");
  });
  it("is the right-most address that is not a trusted proxy: addresses that the client forged are to its left", () => {
    expect(from(["192.0.2.0/24"], "192.0.2.1", "1.1.1.1, 198.51.100.7, 192.0.2.8")).toBe("198.51.100.7");
  });
  it("stops at a text that is not an address", () => {
    expect(from(["192.0.2.0/24"], "192.0.2.1", "1.1.1.1, unknown")).toBe("192.0.2.1");
  });
  it("treats IPv4 in IPv6 notation as IPv4", () => {
    expect(from([], "::ffff:203.0.113.9")).toBe("203.0.113.9");
    expect(from(["203.0.113.9"], "::ffff:203.0.113.9", "2001:db8::1")).toBe("2001:db8::1");
  });
});

describe("a proxy on the server's machine", () => {
  const server = (trusted: string[]) => {
    const warnings: unknown[] = [];
    const services = {
      settings: Settings.parse({ data_dir: "/nowhere", trusted_proxies: trusted }),
      log: Object.assign(pino({ level: "silent" }), { warn: (...line: unknown[]) => warnings.push(line) }),
      running: runningOf({}),
    };
    const call = (peer: string, headers: Record<string, string> = {}) => callerOf(services, peer, new Headers(headers));
    return { ...services, warnings, call };
  };

  it("that is not trusted is logged once, and its callers are marked", () => {
    const { running, warnings, call } = server([]);
    expect(call("127.0.0.1")).toEqual({ address: "127.0.0.1" });
    expect(hasUntrustedProxy({ running })).toBe(false);
    expect(call("127.0.0.1", { "x-forwarded-for": "203.0.113.9" })).toEqual({ address: "127.0.0.1", forwarded: true });
    expect(call("::1", { forwarded: "for=203.0.113.9" })).toEqual({ address: "::1", forwarded: true });
    expect(hasUntrustedProxy({ running })).toBe(true);
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).toContain("--trusted-proxies 127.0.0.1");
  });

  it.each([
    "x-real-ip",
    "via",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "fastly-client-ip",
  ])("is noticed by %s too", (name) => {
    const { running, call } = server([]);
    expect(call("127.0.0.1", { [name]: "203.0.113.9" })).toEqual({ address: "127.0.0.1", forwarded: true });
    expect(hasUntrustedProxy({ running })).toBe(true);
  });

  it("that is trusted is not, also if people on this machine call through it", () => {
    const { running, warnings, call } = server(["127.0.0.1"]);
    const local = { "x-forwarded-for": "127.0.0.1" };
    expect(call("127.0.0.1", local)).toEqual({ address: "127.0.0.1", forwarded: true });
    expect(call("127.0.0.1", { forwarded: "for=192.0.2.1" })).toEqual({ address: "127.0.0.1", forwarded: true });
    expect([hasUntrustedProxy({ running }), warnings]).toEqual([false, []]);
  });

  it("that is not among the trusted ones is named beside them", () => {
    const { warnings, call } = server(["10.0.0.0/8"]);
    call("127.0.0.1", { "x-forwarded-for": "203.0.113.9" });
    expect(JSON.stringify(warnings)).toContain("--trusted-proxies 10.0.0.0/8,127.0.0.1");
  });

  it("that is trusted is not", () => {
    const { running, warnings, call } = server(["127.0.0.1"]);
    expect(call("127.0.0.1", { "x-forwarded-for": "203.0.113.9" })).toEqual({ address: "203.0.113.9" });
    expect(hasUntrustedProxy({ running })).toBe(false);
    expect(warnings).toEqual([]);
  });

  it("elsewhere does not affect limits: a stranger may send such headers", () => {
    expect(server([]).call("203.0.113.9", { "x-forwarded-for": "10.0.0.1" })).toEqual({ address: "203.0.113.9" });
  });
});

describe("users with a global role", () => {
  it("see in the headers of replies that a proxy is not trusted, and others do not", async () => {
    const t = await startApp();
    expect((await t.get("/me")).headers.get("x-svc-warning")).toBeNull();
    callerOf(t.services, "127.0.0.1", new Headers({ "x-forwarded-for": "203.0.113.9" }));
    expect((await t.get("/me")).headers.get("x-svc-warning")).toBe("untrusted-proxy");
    expect((await t.as(null).get("/me")).headers.get("x-svc-warning")).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import { peerAddress } from "../../src/server/core/proxies.ts";

const from = (trusted: string[], peer: string, forwarded?: string) =>
  peerAddress(
    { trusted_proxies: trusted },
    peer,
    new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }),
  );

describe("the caller's address", () => {
  it("is the peer's, whatever the headers say, where no proxy is trusted", () => {
    expect(from([], "203.0.113.9", "10.1.1.1")).toBe("203.0.113.9");
  });
  it("is the peer's where the peer is not a trusted proxy", () => {
    expect(from(["192.0.2.0/24"], "203.0.113.9", "10.1.1.1")).toBe("203.0.113.9");
  });
  it("is the right-most address that is not a trusted proxy: what the client forged stands left of it", () => {
    expect(from(["192.0.2.0/24"], "192.0.2.1", "1.1.1.1, 198.51.100.7, 192.0.2.8")).toBe("198.51.100.7");
  });
  it("stops at what is no address", () => {
    expect(from(["192.0.2.0/24"], "192.0.2.1", "1.1.1.1, unknown")).toBe("192.0.2.1");
  });
  it("reads IPv4 in IPv6 spelling as IPv4", () => {
    expect(from([], "::ffff:203.0.113.9")).toBe("203.0.113.9");
    expect(from(["203.0.113.9"], "::ffff:203.0.113.9", "2001:db8::1")).toBe("2001:db8::1");
  });
});

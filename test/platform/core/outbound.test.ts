import { generate } from "selfsigned";
import { describe, expect, it } from "vitest";
import { isAddressAllowed, type Resolve } from "../../../src/server/platform/core/outbound/addresses.ts";
import {
  checkOutboundUrl,
  fetchOutbound,
  makeFetch,
  OutboundError,
} from "../../../src/server/platform/core/outbound/fetch.ts";
import { Settings } from "../../../src/server/platform/core/settings/settings.ts";
import { readSettings } from "../../../src/server/platform/core/settings/sources.ts";
import { startFake } from "../../support/ca-fakes.ts";
import { startReceiver } from "../../support/receiver.ts";
import { runningOf } from "../../support/running.ts";

const allowing = (...entries: string[]) => ({ outbound_allow: entries });
const local = allowing("127.0.0.1");
/** The kind of error, with a message in our own words. */
const failure = async (fetching: Promise<unknown>): Promise<OutboundError> => {
  const error = await fetching.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OutboundError);
  return error as OutboundError;
};
const resolvingTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

describe("addresses", () => {
  const refused = [
    ...["127.0.0.1", "127.8.9.10", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    ...["169.254.169.254", "169.254.0.1", "100.64.0.1", "100.100.100.200", "192.0.0.192", "192.0.2.1", "198.18.0.1"],
    ...["198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"],
    ...["168.63.129.16", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1"],
    ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::10.0.0.1"],
    ...["64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::1", "2002:0808:0808::1", "2001::1", "2001:db8::1"],
    ...["100::1", "::7f00:1", "::808:808", "::8.8.8.8", "::ffff:0:7f00:1", "::ffff:0:8.8.8.8", "64:ff9b::7f00:1"],
    ...["64:ff9b:1::7f00:1", "64:ff9b:1:fffe::7f00:1", "2002:a00:1::", "2002:a9fe:a9fe::1", "2002:808:808::"],
    ...[
      "2001:0:7f00:1::",
      "2001:0:4136:e378:8000:63bf:80ff:fffe",
      "2606:4700::5efe:7f00:1",
      "2606:4700::5efe:10.0.0.1",
    ],
    ...[
      "2606:4700::200:5efe:a9fe:a9fe",
      "2606:4700::100:5efe:7f00:1",
      "2606:4700::300:5efe:10.1.1.1",
      "fe80::5efe:8.8.8.8",
    ],
    ...[
      "::1:0:0:1",
      "0:0:0:1::1",
      "1::1",
      "100:0:0:1::1",
      "4000::1",
      "5f00::1",
      "8000::1",
      "e000::1",
      "3fff::1",
      "not an address",
      "",
    ],
  ];
  it.each(refused)("refuse %s", async (address) => {
    expect(await isAddressAllowed(allowing(), address)).toBe(false);
  });

  it.each([
    ...["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001::200e", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"],
    ...["64:ff9b::808:808", "2606:4700::5efe:8.8.8.8", "2606:4700::200:5efe:808:808"],
  ])("allow %s", async (one) => {
    expect(await isAddressAllowed(allowing(), one)).toBe(true);
  });

  it("are allowed by address and by network, in any notation", async () => {
    const settings = allowing("10.0.0.0/8", "::1", "169.254.1.1");
    for (const one of ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "::1", "0:0:0:0:0:0:0:1", "169.254.1.1"])
      expect(await isAddressAllowed(settings, one), one).toBe(true);
    for (const one of ["11.0.0.1.1", "127.0.0.1", "169.254.1.2", "172.16.0.1"])
      expect(await isAddressAllowed(settings, one), one).toBe(false);
  });

  it("that are not a host, address or network prevent the start", () => {
    const load = (value: string) => readSettings({ flags: {}, env: { SVC_OUTBOUND_ALLOW: value } });
    expect(() => load("10.0.0.0/33")).toThrow(/outbound_allow: 10.0.0.0\/33/);
    expect(() => load("http://a.example")).toThrow(/outbound_allow/);
    expect(() => load("a b")).toThrow(/outbound_allow/);
    expect(() => load("10.0.0.0/8, hooks.example.com,*.corp.example, ::1")).not.toThrow();
  });
});

describe("a request", () => {
  it("is refused to hosts that are private addresses, in every spelling, before anything is sent", async () => {
    const receiver = await startReceiver();
    const fetch = makeFetch(allowing());
    const hosts = ["127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1", "0", "[::1]"];
    hosts.push("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]");
    hosts.push("[64:ff9b::7f00:1]", "[2002:7f00:1::]", "localhost", "LOCALHOST");
    for (const host of hosts) {
      const { reason, message, wasSent } = await failure(fetch(`http://${host}:${receiver.port}/`));
      expect([host, reason, wasSent]).toEqual([host, "blocked", false]);
      expect(message).toContain("--outbound-allow");
    }
    expect(receiver.received).toEqual([]);
  });

  it("goes through with method, headers, body and basic authentication", async () => {
    const receiver = await startReceiver({ answer: () => ({ status: 201, headers: { "x-a": "1" }, body: "made" }) });
    const services = { running: runningOf({ settings: Settings.parse(local) }), dryRun: null };
    const reply = await fetchOutbound(services, `${receiver.url}/a?b=c`, {
      method: "POST",
      headers: { "Content-Type": "text/plain", "X-Own": "yes", Host: "evil.example" },
      body: "hello",
      auth: { username: "me", password: "pw" },
    });
    expect([reply.status, reply.headers.get("x-a"), reply.body.toString()]).toEqual([201, "1", "made"]);
    expect(receiver.received[0]).toMatchObject({ method: "POST", path: "/a?b=c", text: "hello" });
    expect(receiver.received[0]!.headers).toMatchObject({
      "content-type": "text/plain",
      "x-own": "yes",
      host: `127.0.0.1:${receiver.port}`,
      authorization: `Basic ${Buffer.from("me:pw").toString("base64")}`,
    });
    await fetchOutbound(services, receiver.url.replace("://", "://u:p%40@"));
    expect(receiver.received[1]!.headers.authorization).toBe(`Basic ${Buffer.from("u:p@").toString("base64")}`);
  });

  it("connects to the checked address: a name that resolves differently the next time is refused", async () => {
    const receiver = await startReceiver({ host: "0.0.0.0", answer: () => ({ headers: { connection: "close" } }) });
    let asked = 0;
    const fetch = makeFetch(allowing("127.0.0.2"), async () => {
      asked++;
      return [{ address: asked === 1 ? "127.0.0.2" : "127.0.0.1", family: 4 }];
    });
    const url = `http://rebinding.example:${receiver.port}/`;
    expect((await fetch(url)).status).toBe(200);
    expect(asked).toBe(1);
    expect((await failure(fetch(url))).reason).toBe("blocked");
    expect([asked, receiver.received.length]).toEqual([2, 1]);
  });

  it("is refused to a name if one of its addresses is private", async () => {
    const receiver = await startReceiver();
    const fetch = makeFetch(allowing(), resolvingTo("93.184.216.34", "127.0.0.1"));
    expect((await failure(fetch(`http://two.example:${receiver.port}/`))).reason).toBe("blocked");
    const mapped = makeFetch(allowing(), resolvingTo("::ffff:127.0.0.1"));
    expect((await failure(mapped(`http://mapped.example:${receiver.port}/`))).reason).toBe("blocked");
    expect(receiver.received).toEqual([]);
  });

  it("goes to private addresses of allowed names", async () => {
    const receiver = await startReceiver();
    const fetch = makeFetch(allowing("hooks.corp.example", "*.lab.example"), resolvingTo("127.0.0.1"));
    for (const host of ["hooks.corp.example", "HOOKS.corp.example", "a.b.lab.example"])
      expect((await fetch(`http://${host}:${receiver.port}/`)).status).toBe(200);
    for (const host of ["corp.example", "x.hooks.corp.example", "lab.example", "evil-lab.example"])
      expect((await failure(fetch(`http://${host}:${receiver.port}/`))).reason).toBe("blocked");
  });

  it("is checked again at each redirect", async () => {
    const receiver = await startReceiver();
    const to = (location: string) => ({ status: 307, headers: { location } });
    for (const target of [
      "http://169.254.169.254/latest/meta-data",
      "http://127.0.0.2:1/",
      "//10.0.0.1/",
      "http://2852039166/",
    ]) {
      receiver.answer = () => to(target);
      const { reason } = await failure(makeFetch(local)(receiver.url, { method: "POST", body: "secret" }));
      expect([target, reason]).toEqual([target, "blocked"]);
    }
    for (const target of ["file:///etc/passwd", "gopher://127.0.0.1/", "https://127.0.0.1/", "http://", "::"]) {
      receiver.answer = ({ path }) => (path === "/" ? to(target) : { status: 404 });
      const reply = makeFetch(local)(receiver.url);
      if (target === "::") expect((await reply).status).toBe(404);
      else expect((await failure(reply)).reason).toBe("bad_redirect");
    }
  });

  it("follows three redirects, without credentials to another host", async () => {
    const other = await startReceiver({ answer: () => ({ body: "there" }) });
    const first = await startReceiver({
      answer: ({ path }) =>
        path === "/0"
          ? { status: 308, headers: { location: "/1" } }
          : { status: 307, headers: { location: `${other.url}/2` } },
    });
    const fetch = makeFetch(local);
    const headers = { authorization: "Bearer x", "x-api-key": "k", "webhook-id": "m", "content-type": "a/b" };
    const reply = await fetch(`${first.url}/0`, { method: "POST", body: "b", headers });
    expect(reply.body.toString()).toBe("there");
    expect(first.received[1]!.headers).toMatchObject(headers);
    expect(other.received[0]).toMatchObject({ method: "POST", text: "b" });
    expect(other.received[0]!.headers).toMatchObject({ "webhook-id": "m", "content-type": "a/b" });
    expect(other.received[0]!.headers).not.toHaveProperty("authorization");
    expect(other.received[0]!.headers).not.toHaveProperty("x-api-key");

    first.answer = () => ({ status: 302, headers: { location: "/again" } });
    expect((await failure(fetch(first.url))).reason).toBe("bad_redirect");
    expect(first.received).toHaveLength(2 + 4);
    // A redirect that would turn the POST into a GET delivers nothing, so it is the reply.
    expect((await fetch(first.url, { method: "POST", body: "b" })).status).toBe(302);
    expect((await fetch(first.url, { redirects: 0 })).status).toBe(302);
  });

  it("ends in time if no reply, or an incomplete one, arrives", async () => {
    const receiver = await startReceiver({ answer: () => "hang" });
    const fetch = makeFetch(local);
    const began = Date.now();
    const { reason, wasSent, message } = await failure(fetch(receiver.url, { timeout: 300 }));
    expect([reason, wasSent, message]).toEqual(["timeout", true, "127.0.0.1 did not respond in time"]);
    expect(Date.now() - began).toBeLessThan(60_000);
    receiver.answer = () => "drip";
    expect((await failure(fetch(receiver.url, { timeout: 300 }))).reason).toBe("timeout");
    expect((await fetch(receiver.url, { timeout: 300, isBodyOptional: true })).status).toBe(200);
    receiver.answer = () => "reset";
    expect((await failure(fetch(receiver.url))).reason).toBe("unreachable");
    receiver.answer = () => "cut";
    expect(await failure(fetch(receiver.url))).toMatchObject({ reason: "unreachable", wasSent: true });
    expect((await fetch(receiver.url, { isBodyOptional: true })).status).toBe(200);
    await receiver.stop();
    expect(await failure(fetch(receiver.url))).toMatchObject({
      reason: "unreachable",
      message: "127.0.0.1 refused the connection",
      wasSent: false,
    });
  });

  it("reads no more of a reply than the limit", async () => {
    const body = Buffer.alloc(10_000_000, "x");
    const receiver = await startReceiver({ answer: () => ({ body }) });
    const fetch = makeFetch(local);
    const error = await failure(fetch(receiver.url));
    expect([error.reason, error.message]).toEqual(["too_large", "the reply of 127.0.0.1 is larger than 1048576 bytes"]);
    const cut = await fetch(receiver.url, { isBodyOptional: true, maxBytes: 1_000 });
    expect([cut.status, cut.body.length]).toEqual([200, 1_000]);
    receiver.answer = () => ({ body, headers: { "x-long": "y".repeat(15_000), "x-more": "y".repeat(25_000) } });
    expect((await failure(fetch(receiver.url))).reason).toBe("too_large");
  });

  it("hands the content of a reply over while it arrives", async () => {
    const { url } = await startFake(({ url: { pathname } }) =>
      pathname === "/moved"
        ? { status: 302, headers: { location: "/file" } }
        : { status: pathname === "/file" ? 200 : 404, body: Buffer.alloc(300_000, "x") },
    );
    const fetch = makeFetch(local);
    let received = 0;
    const receive = async (content: AsyncIterable<Uint8Array>) => {
      for await (const part of content) received += part.length;
    };
    const { status, body } = await fetch(`${url}/moved`, { maxBytes: 300_000, receive });
    expect([status, body.length, received]).toEqual([200, 0, 300_000]);
    expect((await failure(fetch(`${url}/file`, { maxBytes: 299_999, receive }))).reason).toBe("too_large");
    received = 0;
    expect((await fetch(`${url}/other`, { receive })).status).toBe(404);
    expect(received).toBe(0);
    const broken = new Error("the disk is full");
    const refuse = async () => {
      throw broken;
    };
    await expect(fetch(`${url}/file`, { receive: refuse })).rejects.toBe(broken);
  });

  it("reports the problem with a certificate", async () => {
    const { cert, private: key } = await generate([{ name: "commonName", value: "127.0.0.1" }]);
    const receiver = await startReceiver({ tls: { cert, key } });
    const error = await failure(makeFetch(local)(receiver.url));
    expect([error.reason, error.wasSent]).toEqual(["tls", false]);
    expect(error.message).toMatch(/^no secure connection to 127.0.0.1: its certificate/);
    const plain = await startReceiver();
    expect((await failure(makeFetch(local)(plain.url.replace("http:", "https:")))).reason).toBe("tls");
  });

  it("is not sent to a URL that is not http or https", async () => {
    for (const url of ["", "ftp://a.example", "a.example", "http://", "javascript:1", "http:///x y", "http://[::1"])
      expect((await failure(makeFetch(local)(url))).reason, url).toBe("blocked");
    expect(checkOutboundUrl("https://a.example/x?y=1")).toBeNull();
    expect(checkOutboundUrl(`https://a.example/${"x".repeat(9000)}`)).toMatch(/at most/);
  });

  it("is refused with a header that would start another one", async () => {
    const receiver = await startReceiver();
    const headers = { "x-a": "1\r\nx-b: 2" };
    expect((await failure(makeFetch(local)(receiver.url, { headers }))).message).toContain("is not allowed");
    expect(receiver.received).toEqual([]);
  });
});

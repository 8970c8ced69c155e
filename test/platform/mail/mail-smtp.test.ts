import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type SecureContext } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SmtpSettings } from "../../../src/api/settings/app-config.ts";
import { deliver, type Letter, NotSent } from "../../../src/server/platform/mail/smtp.ts";
import { trusting } from "../../../src/server/platform/mail/trust.ts";
import {
  SMTP_PASSWORD,
  SMTP_USER,
  type SmtpOptions,
  selfSigned,
  smtpSettings,
  startRaw,
  startSmtp,
} from "../../support/smtp.ts";

const letter: Letter = { to: "bo@example.com", subject: "Hello", text: "One line.\n", html: "<p>One line.</p>" };
const posting = {
  from: "Test Org",
  date: new Date("2026-03-01T12:00:00.000Z"),
  timeout: 5_000,
  outbound: { outbound_allow: ["127.0.0.1", "localhost"] },
};
const send = (settings: SmtpSettings, more: Partial<Letter> = {}, timeout = 5_000) =>
  deliver(settings, { ...letter, ...more }, { ...posting, timeout });
/** The reason for which it was not sent. */
const refusal = async (settings: SmtpSettings, more: Partial<Letter> = {}, timeout?: number): Promise<string> => {
  const error: unknown = await send(settings, more, timeout).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(NotSent);
  return (error as NotSent).message;
};
const withPassword = (more: Partial<SmtpSettings> = {}): Partial<SmtpSettings> => ({
  authentication_type: "authtype_username_and_password",
  user_name: SMTP_USER,
  password: SMTP_PASSWORD,
  ...more,
});

describe("a mail by SMTP", () => {
  it("arrives with both bodies, sender, date and the client's name", async () => {
    const smtp = await startSmtp();
    await send(smtpSettings(smtp.port, { domain: "client.example.com" }));
    const mail = await smtp.mailTo("bo@example.com");
    expect(mail).toMatchObject({
      subject: "Hello",
      mailFrom: "svc@example.com",
      from: { name: "Test Org", address: "svc@example.com" },
      to: [{ address: "bo@example.com" }],
      date: "2026-03-01T12:00:00.000Z",
      ehlo: "client.example.com",
      secure: false,
      auth: null,
    });
    expect(mail.text?.trim()).toBe("One line.");
    expect(mail.html?.trim()).toBe("<p>One line.</p>");
    expect(mail.headers.find(({ key }) => key === "auto-submitted")?.value).toBe("auto-generated");
  });

  it.each([
    ["authmethod_plain", "PLAIN"],
    ["authmethod_login", "LOGIN"],
    ["authmethod_cram_md5", "CRAM-MD5"],
  ])("signs in with %s, under each name of the type", async (method, spoken) => {
    const smtp = await startSmtp({ auth: true });
    for (const type of ["authtype_username_and_password", "authtype_username_password"]) {
      const settings = withPassword({ authentication_method: method, authentication_type: type });
      await send(smtpSettings(smtp.port, settings));
      expect((await smtp.mailTo("bo@example.com")).auth).toBe(spoken);
    }
  });

  it.each(["authmethod_plain", "authmethod_login", "authmethod_cram_md5"])(
    "reports a wrong password with %s without revealing it",
    async (method) => {
      const smtp = await startSmtp({ auth: true });
      const password = "Wrong-Canary-77!";
      const reason = await refusal(smtpSettings(smtp.port, withPassword({ authentication_method: method, password })));
      expect(reason).toMatch(/^127\.0\.0\.1:\d+ refused the sign-in: 535 /);
      for (const secret of [password, Buffer.from(password).toString("base64")]) expect(reason).not.toContain(secret);
      expect(smtp.mails).toEqual([]);
    },
  );

  it("is not sent without a sign-in if a password is set and the server requires none", async () => {
    const smtp = await startSmtp({ disabledCommands: ["AUTH"] });
    expect(await refusal(smtpSettings(smtp.port, withPassword()))).toMatch(/refused the sign-in/);
    expect(smtp.mails).toEqual([]);
  });

  it("reports that user and password are missing", async () => {
    const smtp = await startSmtp({ auth: true });
    expect(await refusal(smtpSettings(smtp.port, withPassword({ password: "" })))).toContain("must be set");
  });

  it("is sent without a sign-in if neither user nor password is set", async () => {
    const smtp = await startSmtp();
    await send(smtpSettings(smtp.port, withPassword({ user_name: "", password: "" })));
    expect((await smtp.mailTo("bo@example.com")).auth).toBeNull();
  });

  it("uses STARTTLS if it is turned on, and not otherwise", async () => {
    const smtp = await startSmtp();
    await send(smtpSettings(smtp.port, { enable_start_tls: true, verify_ssl_certs: false }));
    expect((await smtp.mailTo("bo@example.com")).secure).toBe(true);
    await send(smtpSettings(smtp.port));
    expect((await smtp.mailTo("bo@example.com")).secure).toBe(false);
  });

  it("is not sent in clear text, nor is a password, if STARTTLS is required but not offered", async () => {
    const smtp = await startSmtp({ disabledCommands: ["STARTTLS"], auth: true });
    const settings = smtpSettings(smtp.port, withPassword({ enable_start_tls: true, verify_ssl_certs: false }));
    expect(await refusal(settings)).toMatch(/refused STARTTLS, which enable_start_tls requires/);
    expect(smtp.mails).toEqual([]);
  });

  it("is not sent in clear text if EHLO is refused and STARTTLS is required", async () => {
    const heard: string[] = [];
    const port = await startRaw((socket) => {
      socket.write("220 old.example.com\r\n");
      socket.on("data", (data) => {
        heard.push(data.toString());
        socket.write(data.toString().startsWith("HELO") ? "250 hello\r\n" : "502 not known\r\n");
      });
    });
    await refusal(smtpSettings(port, withPassword({ enable_start_tls: true })));
    expect(heard.join("")).not.toMatch(/AUTH|MAIL FROM/);
  });

  it("uses TLS from the first byte, and verifies the certificate unless configured otherwise", async () => {
    const smtp = await startSmtp({ secure: true });
    const tls = { enable_ssl_tls: true };
    expect(await refusal(smtpSettings(smtp.port, tls))).toMatch(/^no secure connection to .*self-signed/);
    await send(smtpSettings(smtp.port, { ...tls, verify_ssl_certs: false }));
    expect((await smtp.mailTo("bo@example.com")).secure).toBe(true);
    expect(smtp.mails.length).toBe(1);
  });

  it("verifies the certificate of STARTTLS too", async () => {
    const smtp = await startSmtp();
    expect(await refusal(smtpSettings(smtp.port, { enable_start_tls: true }))).toMatch(/self-signed/);
    expect(smtp.mails).toEqual([]);
  });

  it("is secure with both kinds of TLS turned on", async () => {
    const smtp = await startSmtp();
    const both = { enable_ssl_tls: true, enable_start_tls: true, verify_ssl_certs: false };
    await send(smtpSettings(smtp.port, both));
    expect((await smtp.mailTo("bo@example.com")).secure).toBe(true);
  });

  it("reports a server that does not support implicit TLS", async () => {
    const smtp = await startSmtp();
    const reason = await refusal(smtpSettings(smtp.port, { enable_ssl_tls: true, verify_ssl_certs: false }));
    expect(reason).toMatch(/does not support implicit TLS/);
  });

  const silent: [string, (socket: import("node:net").Socket) => void][] = [
    ["says nothing", () => {}],
    ["greets and says no more", (socket) => socket.write("220 hi\r\n")],
    ["greets letter by letter", (socket) => void everySoOften(socket, "2")],
    ["trickles lines for ever", (socket) => void everySoOften(socket, "220-more\r\n")],
  ];
  it.each(silent)("ends in bounded time with a server that %s", async (_, speak) => {
    const port = await startRaw(speak);
    const started = performance.now();
    expect(await refusal(smtpSettings(port), {}, 400)).toMatch(/did not answer within 0\.4 s/);
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  it("reports why it could not connect, or was refused", async () => {
    const port = await startRaw((socket) => socket.end("554 5.7.1 no service for you\r\n"));
    expect(await refusal(smtpSettings(port))).toMatch(/refused: 554 5\.7\.1 no service for you$/);
    const gone = await startRaw((socket) => socket.destroy());
    expect(await refusal(smtpSettings(gone))).toMatch(/closed the connection/);
    const closed = await startSmtp();
    await closed.close();
    expect(await refusal(smtpSettings(closed.port))).toBe(`127.0.0.1:${closed.port} refused the connection`);
    expect(await refusal(smtpSettings(25, { server: "no-such-host.invalid" }))).toMatch(/not found|looked up/);
  });

  it("truncates the server's text, on one line", async () => {
    const port = await startRaw((socket) => socket.end(`554 ${"long words ".repeat(5_000)}\r\n`));
    const reason = await refusal(smtpSettings(port));
    expect(reason.length).toBeLessThan(300);
    expect(reason).not.toMatch(/[\r\n]/);
  });

  it("reports a refused recipient with the server's text", async () => {
    const smtp = await startSmtp({ refuse: /^bo@/ });
    const reason = await refusal(smtpSettings(smtp.port));
    expect(reason).toBe(`127.0.0.1:${smtp.port} refused the recipient: 550 5.1.1 No such user here`);
  });

  it("does not let other texts start a header, a command or another recipient", async () => {
    const smtp = await startSmtp();
    const subject = "Hi\r\nBcc: evil@example.com\r\n\r\nA body";
    await deliver(
      smtpSettings(smtp.port, { domain: "a\r\nRSET" }),
      { ...letter, subject },
      {
        ...posting,
        from: 'Org"\r\nX-Evil: yes\r\n<evil@example.com>',
      },
    );
    const mail = await smtp.mailTo("bo@example.com");
    expect(mail.rcpt).toEqual(["bo@example.com"]);
    expect(mail.mailFrom).toBe("svc@example.com");
    expect(mail.subject).toBe("Hi Bcc: evil@example.com A body");
    expect(mail.headers.map(({ key }) => key)).not.toContain("bcc");
    expect(mail.headers.map(({ key }) => key)).not.toContain("x-evil");
    expect(mail.from?.address).toBe("svc@example.com");
    for (const to of ["bo@example.com>\r\nRCPT TO:<evil@example.com", "bo@example.com, evil@example.com", "<x@y>"])
      await send(smtpSettings(smtp.port), { to }).catch(() => {});
    await smtp.quiet();
    expect(smtp.mails.flatMap(({ rcpt }) => rcpt)).not.toContain("evil@example.com");
  });

  it.each([
    ...["169.254.169.254", "[fe80::1]", "::ffff:169.254.169.254", "fd00:ec2::254", "fd00:ec2:0::254", "0.0.0.0"],
    ...[
      "127.0.0.2",
      "10.0.0.5",
      "192.168.1.1",
      "::1",
      "[::1]",
      "::7f00:2",
      "[::7f00:2]",
      "::ffff:127.0.0.2",
      "2002:7f00:2::",
    ],
  ])("does not connect to %s", async (server) => {
    expect(await refusal(smtpSettings(25, { server }), {}, 1_000)).toMatch(/addresses .*are blocked/);
  });

  it("is not sent to private addresses that outbound_allow does not list, by address or by name", async () => {
    const smtp = await startSmtp();
    const strict = { ...posting, outbound: { outbound_allow: ["127.0.0.9"] } };
    for (const server of ["127.0.0.1", "localhost", "::ffff:127.0.0.1"])
      await expect(deliver(smtpSettings(smtp.port, { server }), letter, strict)).rejects.toThrow(
        /addresses .*are blocked/,
      );
    await smtp.quiet();
    expect(smtp.mails).toEqual([]);
  });

  it("reaches a server by a name for this machine", async () => {
    const smtp = await startSmtp({ secure: true } satisfies SmtpOptions);
    const settings = { server: "localhost", enable_ssl_tls: true, verify_ssl_certs: false };
    await send(smtpSettings(smtp.port, settings));
    expect(smtp.mails.length).toBe(1);
  });
});

describe("what is trusted", () => {
  const authorized = async (port: number, secureContext: SecureContext) => {
    const socket = connect({ port, host: "127.0.0.1", secureContext, rejectUnauthorized: false });
    await once(socket, "secureConnect");
    socket.destroy();
    return socket.authorized;
  };

  it("is the first existing file of the system, in addition to Node's certificates", async () => {
    const smtp = await startSmtp({ secure: true });
    const dir = await mkdtemp(join(tmpdir(), "svc-trust-"));
    onTestFinished(() => rm(dir, { recursive: true }));
    const bundle = join(dir, "bundle.crt");
    await writeFile(bundle, `# ours\n${(await selfSigned()).cert}`);
    await writeFile(join(dir, "other.crt"), "nothing");
    expect(await authorized(smtp.port, await trusting([join(dir, "missing.crt"), bundle]))).toBe(true);
    expect(await authorized(smtp.port, await trusting([join(dir, "other.crt"), bundle]))).toBe(false);
    expect(await authorized(smtp.port, await trusting())).toBe(false);
  });
});

function everySoOften(socket: import("node:net").Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 50);
  socket.on("close", () => clearInterval(timer));
}

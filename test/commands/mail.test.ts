import { describe, expect, it } from "vitest";
import { ADMIN } from "../support/app.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { mailOf, type Smtp, startRaw, tokenIn, useMail } from "../support/smtp.ts";

const FRESH = "Another-Password-78";
const linkIn = (mail: Awaited<ReturnType<Smtp["mailTo"]>>, path: string) =>
  `https://svc.example.com${path}${tokenIn(mail, path)}`;
async function withMail(): Promise<{ fleet: Fleet; smtp: Smtp }> {
  const fleet = await startFleet();
  return { fleet, smtp: await mailOf(fleet.app) };
}
const user = {
  name: "Mia",
  email: "mia@example.com",
  password: "First-Password-12",
  global_role: "observer",
  admin_forced_password_reset: false,
};

describe("a forgotten password on the command line", () => {
  it("is replaced without a sign-in, and the output contains neither the token nor the password", async () => {
    const { fleet, smtp } = await withMail();
    await fleet.run(["context", "remove", "local", "--yes"]);
    const asked = await fleet.run(["users", "forgot-password", ADMIN.email]);
    expect(asked).toMatchObject({ exitCode: 0, stdout: "" });
    expect(asked.stderr).toContain("svc users reset-password");
    const link = linkIn(await smtp.mailTo(ADMIN.email), "/login/reset/");
    const done = await fleet.run(["users", "reset-password"], { tty: true, answers: [link, FRESH, FRESH] });
    expect(done).toMatchObject({ exitCode: 0, asked: ["Link", "New password", "New password again"] });
    for (const secret of [link.slice(-43), FRESH]) expect(done.stdout + done.stderr).not.toContain(secret);
    const login = ["login", "--email", ADMIN.email, "--password-stdin"];
    expect((await fleet.run(login, { stdin: ADMIN.password })).exitCode).toBe(4);
    expect((await fleet.run(login, { stdin: FRESH })).exitCode).toBe(0);
    const again = await fleet.run(["users", "reset-password", "--password-reset-token-stdin"], {
      stdin: link,
      tty: { stdin: true, stderr: true },
      answers: ["Third-Password-79", "Third-Password-79"],
    });
    expect(again.exitCode).toBe(4);
    expect(again.stderr).toContain("forgot-password");
  });

  it("prints the same for an unknown address, and changes nothing in a dry run", async () => {
    const { fleet, smtp } = await withMail();
    const known = await fleet.run(["users", "forgot-password", ADMIN.email, "--dry-run"]);
    expect(known).toMatchObject({ exitCode: 0, stdout: `would request a link for ${ADMIN.email}\n` });
    const unknown = await fleet.run(["users", "forgot-password", "nobody@example.com"]);
    expect(unknown.exitCode).toBe(0);
    await smtp.quiet();
    expect(smtp.mails).toEqual([]);
  });

  it("reports that outgoing mail is not configured", async () => {
    const fleet = await startFleet();
    const { exitCode, stderr } = await fleet.run(["users", "forgot-password", ADMIN.email]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("email not configured");
  });
});

describe("multi-factor sign-in on the command line", () => {
  it("asks for the link on a terminal", async () => {
    const { fleet, smtp } = await withMail();
    await fleet.app.post("/users/admin", { ...user, mfa_enabled: true });
    const links: string[] = [];
    // The link exists only after the password was accepted.
    const arrived = async () => {
      links.push(linkIn(await smtp.mailTo(user.email), "/login/mfa/"));
      return links[0]!;
    };
    const answers = [user.password, arrived];
    const login = await fleet.run(["login", "--email", user.email], { tty: true, answers });
    expect(login.exitCode, login.stderr).toBe(0);
    expect(login.asked).toEqual(["Password", "Link"]);
    expect(links.length).toBe(1);
    expect(login.stderr + login.stdout).not.toContain(links[0]!.slice(-43));
    expect((await fleet.run(["whoami"])).stdout).toContain(user.email);
  });

  it("is completed later with the link on stdin", async () => {
    const { fleet, smtp } = await withMail();
    await fleet.app.post("/users/admin", { ...user, mfa_enabled: true });
    const first = await fleet.run(["login", "--email", user.email, "--password-stdin"], { stdin: user.password });
    expect(first.exitCode).toBe(4);
    expect(first.stderr).toContain("--mfa-token-stdin");
    const stdin = `${linkIn(await smtp.mailTo(user.email), "/login/mfa/")}\n`;
    expect((await fleet.run(["login", "--mfa-token-stdin"], { stdin })).exitCode).toBe(0);
    expect((await fleet.run(["whoami"])).stdout).toContain(user.email);
    const again = await fleet.run(["login", "--mfa-token-stdin"], { stdin });
    expect(again.exitCode).toBe(4);
    expect(again.stderr).toContain("15 minutes");
  });
});

describe("a new email address on the command line", () => {
  it("is confirmed with its link", async () => {
    const { fleet, smtp } = await withMail();
    const update = await fleet.run(["users", "update", "me", "--email", "new@example.com", "--password-stdin"], {
      stdin: ADMIN.password,
    });
    expect(update.exitCode, update.stderr).toBe(0);
    expect(update.stderr).toContain("new@example.com must be confirmed with the mailed link");
    const stdin = linkIn(await smtp.mailTo("new@example.com"), "/email/change/");
    const confirmed = await fleet.run(["users", "confirm-email", "--token-stdin", "-o", "json"], { stdin });
    expect(JSON.parse(confirmed.stdout)).toEqual({ new_email: "new@example.com" });
    expect((await fleet.run(["users", "confirm-email", "--token-stdin"], { stdin })).exitCode).toBe(3);
  });
});

describe("svc config test-mail", () => {
  it("sends a mail, and reports the mail server's error if it cannot", async () => {
    const { fleet, smtp } = await withMail();
    const sent = await fleet.run(["config", "test-mail", "-o", "json"]);
    expect(JSON.parse(sent.stdout)).toEqual({ sent_to: ADMIN.email });
    await smtp.mailTo(ADMIN.email);
    const dry = await fleet.run(["config", "test-mail", "--to", "x@example.com", "--dry-run"]);
    expect(dry.stdout).toBe("would send a mail to x@example.com\n");
    const port = await startRaw((socket) => socket.end("554 5.7.1 not today\r\n"));
    const stdin = JSON.stringify({ smtp_settings: { port } });
    const tried = await fleet.run(["config", "test-mail", "--input", "-"], { stdin });
    expect(tried.exitCode).toBe(1);
    expect(tried.stderr).toContain("554 5.7.1 not today");
    await useMail(fleet.app, port);
    expect((await fleet.run(["config", "test-mail"])).exitCode).toBe(1);
    expect(smtp.mails.length).toBe(1);
  });
});

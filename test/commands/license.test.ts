import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { newHome, runCli } from "../support/cli.ts";
import { startFleet } from "../support/fleet.ts";

const now = Math.floor(Date.parse("2026-03-01T12:00:00.000Z") / 1000);
const keys = generateKeyPairSync("ed25519");
const pem = keys.publicKey.export({ type: "spki", format: "pem" }) as string;
const claims = { iss: "svc", sub: "Example Ltd", devices: 500, exp: now + 86_400 };
const sign = (payload: object, key: KeyObject = keys.privateKey) =>
  new SignJWT({ ...payload }).setProtectedHeader({ alg: "EdDSA" }).sign(key);
const verify = (key: string, argv: string[] = []) =>
  runCli(["license", "verify", "-", "-o", "json", ...argv], {
    stdin: `${key}\n`,
    env: { SVC_LICENSE_PUBLIC_KEY: pem },
  });

describe("license verify", () => {
  it("prints the content of a valid key, without a server", async () => {
    const { stdout, exitCode } = await verify(await sign({ ...claims, note: "n" }));
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      tier: "premium",
      expiration: "2026-03-02T12:00:00.000Z",
      organization: "Example Ltd",
      device_count: 500,
      note: "n",
      valid_from: null,
      expired: false,
      valid: true,
    });
  });

  it("reads key and public key from files", async () => {
    const home = await newHome();
    await writeFile(join(home, "key"), await sign(claims));
    await writeFile(join(home, "pub"), pem);
    const { stdout, exitCode } = await runCli([
      "license",
      "verify",
      join(home, "key"),
      "--public-key",
      join(home, "pub"),
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Example Ltd");
    expect((await runCli(["license", "verify", join(home, "none")])).exitCode).toBe(1);
    expect(
      (await runCli(["license", "verify", join(home, "key"), "--public-key", join(home, "none")])).stderr,
    ).toContain("cannot be read");
  });

  it("reports after the content if the key has expired or is not valid yet", async () => {
    const expired = await verify(await sign({ ...claims, exp: now - 1 }));
    expect([expired.exitCode, JSON.parse(expired.stdout).valid]).toEqual([1, false]);
    expect(expired.stderr).toContain("the license expired on 2026-03-01");
    const early = await verify(await sign({ ...claims, nbf: now + 60 }));
    expect([early.exitCode, JSON.parse(early.stdout).valid]).toEqual([1, false]);
    expect(early.stderr).toContain("valid only from");
  });

  it("refuses keys that were signed by another pair, or are invalid", async () => {
    const foreign = await sign(claims, generateKeyPairSync("ed25519").privateKey);
    const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${body}.`;
    for (const key of [foreign, unsigned, "x", ""]) {
      const { stdout, stderr, exitCode } = await verify(key);
      expect([exitCode, stdout]).toEqual([1, ""]);
      expect(stderr).toContain("was not signed with the expected key");
    }
    const bad = await verify(await sign({ ...claims, devices: "many" }));
    expect(bad.stderr).toContain("claim devices is wrong");
  });
});

/** A key pair in files, as `license keygen` writes it. */
async function keygen() {
  const home = await newHome();
  const files = { privateKey: join(home, "private.pem"), publicKey: join(home, "public.pem") };
  const argv = ["license", "keygen", "--private-key-file", files.privateKey, "--public-key", files.publicKey];
  return { ...files, argv, made: await runCli(argv) };
}

describe("license keygen", () => {
  it("writes a pair whose private key only the owner can read, and prints the setting for servers", async () => {
    const { privateKey, publicKey, made } = await keygen();
    expect(made).toMatchObject({ exitCode: 0 });
    expect((await stat(privateKey)).mode & 0o777).toBe(0o600);
    expect((await stat(publicKey)).mode & 0o777).toBe(0o644);
    expect(await readFile(privateKey, "utf8")).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    const pem = await readFile(publicKey, "utf8");
    const [, setting] = /^SVC_LICENSE_PUBLIC_KEY=([\w+/=]+)\n$/.exec(made.stdout)!;
    expect(pem.replaceAll("\n", "")).toContain(setting);
    expect(made.stdout + made.stderr).not.toContain((await readFile(privateKey, "utf8")).split("\n")[1]);
  });

  it("overwrites neither file, and leaves no incomplete pair", async () => {
    const { privateKey, publicKey, argv } = await keygen();
    const before = [await readFile(privateKey, "utf8"), await readFile(publicKey, "utf8")];
    const again = await runCli(argv);
    expect(again).toMatchObject({ exitCode: 5, stdout: "" });
    expect(again.stderr).toContain("private.pem already exists");
    expect([await readFile(privateKey, "utf8"), await readFile(publicKey, "utf8")]).toEqual(before);

    const other = join(await newHome(), "other.pem");
    const half = await runCli(["license", "keygen", "--private-key-file", other, "--public-key", publicKey]);
    expect(half.exitCode).toBe(5);
    await expect(stat(other)).rejects.toThrow("ENOENT");
    const same = await runCli(["license", "keygen", "--private-key-file", other, "--public-key", other]);
    expect(same.exitCode).toBe(2);
  });
});

describe("license issue", () => {
  const issue = (argv: string[], options: Parameters<typeof runCli>[1] = {}) =>
    runCli(["license", "issue", "--organization", "Example Ltd", "--devices", "500", ...argv], options);

  it("signs a key that license verify accepts, with each form of the public key", async () => {
    const { privateKey, publicKey, made } = await keygen();
    const issued = await issue(["--private-key-file", privateKey, "--note", "n"]);
    expect(issued).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+\n$/) });
    expect(issued.stderr).toContain("issued to Example Ltd for 500 hosts, until 2027-03-01T12:00:00.000Z");
    const setting = made.stdout.trim().replace("SVC_LICENSE_PUBLIC_KEY=", "");
    const file = await runCli(["license", "verify", "-", "--public-key", publicKey, "-o", "json"], {
      stdin: issued.stdout,
    });
    for (const read of [
      file,
      await runCli(["license", "verify", "-", "-o", "json"], {
        stdin: issued.stdout,
        env: { SVC_LICENSE_PUBLIC_KEY: setting },
      }),
    ]) {
      expect(read.exitCode, read.stderr).toBe(0);
      expect(JSON.parse(read.stdout)).toMatchObject({
        organization: "Example Ltd",
        device_count: 500,
        expiration: "2027-03-01T12:00:00.000Z",
        note: "n",
        valid_from: null,
        valid: true,
      });
    }
  });

  it("reads the private key from stdin and the environment, and accepts P-256 keys and dates", async () => {
    const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = p256.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    const dates = ["--valid-from", "2026-04-01", "--expires-at", "2026-06-30T12:00:00Z", "-o", "json"];
    for (const result of [
      await issue(["--private-key-stdin", ...dates], { stdin: key }),
      await issue(dates, { env: { SVC_LICENSE_PRIVATE_KEY: key.replaceAll("\n", "\\n") } }),
    ]) {
      expect(result.exitCode, result.stderr).toBe(0);
      const { license_key, public_key, ...license } = JSON.parse(result.stdout);
      expect(public_key).toBe(p256.publicKey.export({ type: "spki", format: "pem" }));
      expect(license).toMatchObject({
        valid_from: "2026-04-01T00:00:00.000Z",
        expiration: "2026-06-30T12:00:00.000Z",
      });
      const early = await runCli(["license", "verify", "-"], {
        stdin: license_key,
        env: { SVC_LICENSE_PUBLIC_KEY: public_key },
      });
      expect([early.exitCode, early.stderr]).toEqual([1, expect.stringContaining("valid only from")]);
    }
  });

  it("warns about a private key that others can read", async () => {
    const { privateKey } = await keygen();
    await chmod(privateKey, 0o644);
    const issued = await issue(["--private-key-file", privateKey]);
    expect([issued.exitCode, issued.stderr]).toEqual([0, expect.stringContaining("chmod 600")]);
  });

  it.each([
    { argv: ["--expires-at", "2026-02-28"], says: "--expires-at" },
    { argv: ["--expires-at", "tomorrow"], says: "--expires-at" },
    { argv: ["--expires-in", "0s"], says: "--expires-in" },
    { argv: ["--expires-in", "99999999999d"], says: "--expires-in" },
    { argv: ["--expires-in", "a year"], says: "--expires-in" },
    { argv: ["--valid-from", "2028-01-01"], says: "--valid-from" },
    { argv: ["--organization", " "], says: "--organization" },
    { argv: ["--organization", "x".repeat(256)], says: "--organization" },
    { argv: ["--devices", "-1"], says: "--devices" },
    { argv: ["--note", "x".repeat(1001)], says: "--note" },
  ])("refuses $argv.0 $argv.1", async ({ argv, says }) => {
    const { privateKey } = await keygen();
    const { stdout, stderr, exitCode } = await issue(["--private-key-file", privateKey, ...argv]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(says);
  });

  it("refuses keys that it cannot sign with, and explains how to give one", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const wrong = rsa.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    expect((await issue(["--private-key-stdin"], { stdin: wrong })).stderr).toContain(
      "the private key must be an Ed25519 or P-256 key",
    );
    expect((await issue(["--private-key-stdin"], { stdin: pem })).stderr).toContain("is not a private key");
    const none = await issue([]);
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("svc license keygen")]);
  });
});

describe("license show", () => {
  it("shows the server's license, and warns if it has expired", async () => {
    const fleet = await startFleet();
    const { stdout, stderr } = await fleet.run(["license", "show", "-o", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ tier: "premium", organization: "test", expired: false });
    expect(stderr).toBe("");
    Object.assign(fleet.app.services.license, { expiration: "2026-02-01T00:00:00.000Z" });
    const late = await fleet.run(["license", "show", "-o", "json"]);
    expect([late.exitCode, JSON.parse(late.stdout).expired]).toEqual([0, true]);
    expect(late.stderr).toContain("the license expired on 2026-02-01");
  });
});

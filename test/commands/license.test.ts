import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { writeFile } from "node:fs/promises";
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
  it("prints what a good key says, without a server", async () => {
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

  it("says so, after what the key says, when it has expired or does not hold yet", async () => {
    const expired = await verify(await sign({ ...claims, exp: now - 1 }));
    expect([expired.exitCode, JSON.parse(expired.stdout).valid]).toEqual([1, false]);
    expect(expired.stderr).toContain("the license expired on 2026-03-01");
    const early = await verify(await sign({ ...claims, nbf: now + 60 }));
    expect([early.exitCode, JSON.parse(early.stdout).valid]).toEqual([1, false]);
    expect(early.stderr).toContain("valid only from");
  });

  it("refuses keys that are signed by another, or are none", async () => {
    const foreign = await sign(claims, generateKeyPairSync("ed25519").privateKey);
    const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${body}.`;
    for (const key of [foreign, unsigned, "x", ""]) {
      const { stdout, stderr, exitCode } = await verify(key);
      expect([exitCode, stdout]).toEqual([1, ""]);
      expect(stderr).toContain("is not signed by the key that is trusted here");
    }
    const bad = await verify(await sign({ ...claims, devices: "many" }));
    expect(bad.stderr).toContain("claim devices is wrong");
  });
});

describe("license show", () => {
  it("shows the server's, and warns when it has expired", async () => {
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

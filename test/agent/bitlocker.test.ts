// BitLocker by the agent. Instead of PowerShell, a volume in memory answers as Win32_EncryptableVolume does.
import { describe, expect, it } from "vitest";
import { Bitlocker, type BitlockerAction, stepsFor } from "../../src/agent/disk-keys/bitlocker.ts";
import { NoKey } from "../../src/agent/disk-keys/luks.ts";
import { resultIn } from "../../src/agent/disk-keys/powershell.ts";
import { bitLockerReason, type Protector, type Volume, volumeIn } from "../../src/agent/disk-keys/volume.ts";

const PASSWORD = /^\d{6}(-\d{6}){7}$/;
const TPM: Protector = { id: "{TPM}", type: 1, name: "" };
const OF_ADMIN: Protector = { id: "{ADMIN}", type: 3, name: "Escrowed in the directory" };
const OURS: Protector = { id: "{OLD}", type: 3, name: "svc-agent 00000000" };

interface Disk {
  conversion: number;
  protection: number;
  protectors: Protector[];
  tpm: boolean;
  /** Codes that methods return instead of doing their work. */
  refuses: Record<string, number>;
}

let made = 0;

/** `failure`: of the delivery to the server. */
function machine(given: Partial<Disk>, failure?: Error) {
  const disk: Disk = {
    conversion: 0,
    // Protection stays on until somebody suspends it.
    protection: given.conversion === 1 ? 1 : 0,
    protectors: [],
    tpm: true,
    refuses: {},
    ...given,
  };
  const calls: string[] = [];
  const passwords = new Map<string, string>();
  const methods: Record<string, (given: Record<string, unknown>) => object> = {
    ProtectKeyWithTPM() {
      disk.protectors.push(TPM);
      return { id: TPM.id };
    },
    ProtectKeyWithNumericalPassword({ FriendlyName }) {
      const id = `{NEW-${++made}}`;
      passwords.set(id, `${passwords.size}`.padStart(6, "1").concat("-222222".repeat(7)));
      disk.protectors.push({ id, type: 3, name: String(FriendlyName) });
      return { id };
    },
    GetKeyProtectorNumericalPassword: ({ VolumeKeyProtectorID: id }) => ({ password: passwords.get(String(id)) }),
    DeleteKeyProtector({ VolumeKeyProtectorID }) {
      disk.protectors = disk.protectors.filter(({ id }) => id !== VolumeKeyProtectorID);
      return {};
    },
    Encrypt(args) {
      expect(args).toEqual({ EncryptionMethod: 0, EncryptionFlags: 1 });
      disk.conversion = 2;
      return {};
    },
    EnableKeyProtectors() {
      disk.protection = 1;
      return {};
    },
    ResumeConversion() {
      disk.conversion = 2;
      return {};
    },
  };
  const run = async (_script: string, input?: Readonly<Record<string, unknown>>) => {
    if (input === undefined)
      return {
        conversion: disk.conversion,
        protection: disk.protection,
        lock: 0,
        protectors: [...disk.protectors],
        tpm: disk.tpm,
      };
    const { method, arguments: args } = input as { method: string; arguments: Record<string, unknown> };
    calls.push(method);
    const code = disk.refuses[method];
    return code === undefined ? { code: 0, ...methods[method]!(args) } : { code };
  };
  const delivered: Record<string, string>[] = [];
  const lines: string[] = [];
  let now = 0;
  const bitlocker = new Bitlocker({
    server: {
      async deliverBitlocker(data) {
        if (failure !== undefined) throw failure;
        delivered.push({ ...data });
      },
    },
    log: (level, message) => void lines.push(`${level}: ${message}`),
    run,
    now: () => now,
  });
  return {
    ...{ disk, calls, delivered, lines, passwords },
    start: (wanted: BitlockerAction = "encrypt") => bitlocker.start(wanted),
    later: (ms: number) => {
      now += ms;
    },
  };
}

const decoded = (key: string | undefined) => Buffer.from(key ?? "", "base64").toString();

describe("the disk of Windows", () => {
  it("is encrypted with the TPM, and the server gets a recovery password", async () => {
    const { start, disk, calls, delivered, lines } = machine({});
    // The server asks again while it runs.
    await Promise.all([start(), start()]);
    expect(calls).toEqual([
      ...["ProtectKeyWithTPM", "ProtectKeyWithNumericalPassword", "GetKeyProtectorNumericalPassword", "Encrypt"],
    ]);
    expect(disk.protectors.map(({ type }) => type)).toEqual([1, 3]);
    expect(delivered).toHaveLength(1);
    expect(decoded(delivered[0]!.encryption_key)).toMatch(PASSWORD);
    expect(lines.join("\n")).not.toMatch(/\d{6}-/);
  });

  it("keeps its TPM with PIN", async () => {
    const { start, calls } = machine({ protectors: [{ id: "{PIN}", type: 4, name: "" }] });
    await start();
    expect(calls).not.toContain("ProtectKeyWithTPM");
    expect(calls).toContain("Encrypt");
  });

  it("that is encrypted gets a new recovery password; that of an administrator stays", async () => {
    const { start, disk, calls, delivered } = machine({ conversion: 1, protectors: [TPM, OF_ADMIN, OURS] });
    await start("rotate");
    expect(calls).not.toContain("Encrypt");
    expect(delivered).toHaveLength(1);
    expect(disk.protectors.map(({ id }) => id)).toEqual([TPM.id, OF_ADMIN.id, expect.stringContaining("NEW")]);
  });

  it("that is encrypted is protected again where its protection was suspended", async () => {
    const { start, disk, calls, delivered } = machine({ conversion: 1, protection: 0, protectors: [TPM, OURS] });
    await start();
    expect([disk.protection, calls]).toEqual([1, expect.arrayContaining(["EnableKeyProtectors"])]);
    expect(delivered).toHaveLength(1);
    const bare = machine({ conversion: 1, protection: 0, protectors: [OURS] });
    await bare.start();
    expect(bare.calls).toEqual(expect.arrayContaining(["ProtectKeyWithTPM", "EnableKeyProtectors"]));
    const refused = machine({ conversion: 1, protection: 0, protectors: [OURS], tpm: false });
    await refused.start();
    expect(refused.delivered).toEqual([{ client_error: expect.stringContaining("no TPM") }]);
  });

  it("is encrypted further where that was paused", async () => {
    const { start, calls, delivered } = machine({ conversion: 4, protectors: [TPM] });
    await start();
    expect(calls).toContain("ResumeConversion");
    expect(delivered).toHaveLength(1);
  });

  it("is left alone while it is decrypted", async () => {
    const { start, disk, calls, delivered, lines } = machine({ conversion: 3, protectors: [TPM] });
    await start();
    await start();
    expect([calls, delivered, lines]).toEqual([[], [], [expect.stringContaining("has been decrypted")]]);
    disk.conversion = 0;
    await start();
    expect(delivered).toHaveLength(1);
  });

  it("gets no recovery password that the server does not have", async () => {
    const { start, disk, lines } = machine({ conversion: 1, protectors: [TPM, OURS] }, new Error("status 500"));
    await start();
    expect(disk.protectors).toEqual([TPM, OURS]);
    expect(lines).toEqual(["warn: disk encryption: status 500"]);
  });

  it("that was just encrypted keeps its only recovery password, and gets another one later", async () => {
    const failing = machine({}, new Error("status 500"));
    await failing.start();
    expect(failing.disk.protectors.map(({ type }) => type)).toEqual([1, 3]);
    const later = machine({ conversion: 2, protectors: failing.disk.protectors });
    await later.start();
    expect(later.delivered).toHaveLength(1);
    expect(later.disk.protectors).toHaveLength(2);
    expect(decoded(later.delivered[0]!.encryption_key)).toBe(later.passwords.get(later.disk.protectors[1]!.id));
  });

  it.each<[string, Partial<Disk>, string]>([
    ["no TPM", { tpm: false }, "no TPM"],
    ["a policy for a PIN", { refuses: { ProtectKeyWithTPM: 0x80310061 } }, "requires a startup PIN"],
    ["a policy against recovery passwords", { refuses: { ProtectKeyWithNumericalPassword: 0x8031005c } }, "recovery"],
    ["a disc in the drive", { refuses: { Encrypt: 0x80310030 } }, "bootable medium"],
    ["another error", { refuses: { Encrypt: 0x80310011 } }, "BitLocker refused Encrypt: error 0x80310011"],
  ])("is not encrypted: %s, which administrators see", async (_, given, reason) => {
    const { start, delivered, later, calls } = machine(given);
    await start();
    expect(delivered).toEqual([{ client_error: expect.stringContaining(reason) }]);
    const done = calls.length;
    // The server asks every 30 seconds.
    await start();
    expect([delivered.length, calls.length]).toEqual([1, done]);
    later(60 * 60_000);
    await start();
    expect(delivered).toHaveLength(2);
  });
});

describe("what Windows reports", () => {
  it.each([
    ["a volume with protectors", '{"id":"{A}","type":1,"name":null}', [{ id: "{A}", type: 1, name: "" }]],
    ["a list of them", '[{"id":"{A}","type":3,"name":"Köln 北京"}]', [{ id: "{A}", type: 3, name: "Köln 北京" }]],
    [
      "a list in an object",
      '{"value":[{"id":"{A}","type":1,"name":""}],"Count":1}',
      [{ id: "{A}", type: 1, name: "" }],
    ],
    ["none", "null", []],
  ])("is read: %s", (_, protectors, expected) => {
    const output = `Ein Hinweis eines Profils\r\n{"value":{"tpm":true,"lock":0,"protection":1,"conversion":1,"protectors":${protectors}}}\r\n`;
    expect(volumeIn(resultIn(output))).toEqual({
      conversion: 1,
      protection: 1,
      isLocked: false,
      hasTpm: true,
      protectors: expected,
    } satisfies Volume);
  });

  it("may be an error in any language, or nothing", () => {
    expect(() => resultIn('{"code":-2147217394,"error":"Ungültiger Namespace "}')).toThrow(
      new NoKey("PowerShell: Ungültiger Namespace"),
    );
    expect(() => resultIn("")).toThrow(new NoKey("PowerShell returned nothing"));
    expect(volumeIn(resultIn('{"value":null}'))).toBeNull();
    expect(() => volumeIn({ conversion: null })).toThrow(NoKey);
    expect(() => stepsFor(null, "encrypt")).toThrow("no BitLocker");
  });

  it("has error numbers that are signed in some versions", () => {
    expect(bitLockerReason("Encrypt", -2144272336)).toBe(bitLockerReason("Encrypt", 0x80310030));
  });
});

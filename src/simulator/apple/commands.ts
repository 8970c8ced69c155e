// How a simulated Apple device does what it is told. Vendors' documentation of each command says what it answers.
import { X509Certificate } from "node:crypto";
import { envelop } from "../../pki/enveloped-data.ts";
import { readCertificate } from "../../pki/x509.ts";
import { arrayIn, bytesIn, dictsIn, type PlistDict, type PlistValue, stringIn } from "../../plist/value.ts";
import type { Random } from "../random.ts";
import { payloadsIn, profileIn } from "./enrollment-profile.ts";
import type { DeviceFacts } from "./facts.ts";
import type { DeviceState } from "./state.ts";

export interface Doing {
  readonly facts: DeviceFacts;
  readonly state: DeviceState;
  readonly random: Random;
  /** The identifier of the profile with which it has enrolled. */
  readonly enrollmentIdentifier: string;
  /** DER. */
  readonly identity: Buffer;
}

/** The command was not done. */
export class CommandRefused extends Error {
  readonly code: number;
  readonly domain: string;

  constructor(code: number, domain: string, message: string) {
    super(message);
    this.code = code;
    this.domain = domain;
  }
}

/** Returns what the answer has beside its status. Throws `CommandRefused`. */
type Action = (command: PlistDict, doing: Doing) => PlistDict;

const nothing: Action = () => ({});
const CAPACITY_GB = 256;

export const actions: Readonly<Record<string, Action>> = {
  InstallProfile(command, { state, random, enrollmentIdentifier }) {
    const profile = readProfile(bytesIn(command, "Payload"));
    const identifier = stringIn(profile, "PayloadIdentifier");
    if (identifier === null) throw badProfile();
    // The enrollment profile may come again, which renews the identity.
    if (identifier === enrollmentIdentifier) return {};
    const payloads = payloadsIn(profile);
    const escrow = escrowCertificate(payloads);
    state.profiles.set(identifier, {
      uuid: stringIn(profile, "PayloadUUID") ?? "",
      name: stringIn(profile, "PayloadDisplayName") ?? identifier,
      payloads: payloads.length,
      escrow,
    });
    const encrypts = payloads.some((payload) => stringIn(payload, "PayloadType") === "com.apple.MCX.FileVault2");
    if (encrypts) state.recoveryKey ??= newRecoveryKey(random);
    return {};
  },
  RemoveProfile(command, { state, enrollmentIdentifier }) {
    const identifier = stringIn(command, "Identifier") ?? "";
    if (identifier === enrollmentIdentifier) return {};
    if (!state.profiles.delete(identifier))
      throw new CommandRefused(89, "MDMErrorDomain", `Profile with identifier '${identifier}' not found.`);
    return {};
  },
  ProfileList: (_command, { state }) => ({
    ProfileList: [...state.profiles].map(([PayloadIdentifier, { uuid, name, payloads }]) => ({
      PayloadIdentifier,
      PayloadUUID: uuid,
      PayloadDisplayName: name,
      PayloadVersion: 1,
      IsManaged: true,
      PayloadContent: Array.from({ length: payloads }, () => ({ PayloadVersion: 1 })),
    })),
  }),
  DeviceInformation(command, doing) {
    const attributes = information(doing);
    const queries = (arrayIn(command, "Queries") ?? Object.keys(attributes)).filter(
      (query) => typeof query === "string",
    );
    return {
      QueryResponses: Object.fromEntries(
        queries.flatMap((query) => (Object.hasOwn(attributes, query) ? [[query, attributes[query]!]] : [])),
      ),
    };
  },
  SecurityInfo(_command, { facts, state }) {
    const escrow = [...state.profiles.values()].find((profile) => profile.escrow !== null)?.escrow ?? null;
    const encrypted = state.recoveryKey !== null;
    const key: PlistDict =
      state.recoveryKey === null || escrow === null
        ? {}
        : {
            FDE_PersonalRecoveryKeyCMS: envelop(
              Buffer.from(state.recoveryKey),
              readCertificate(escrow),
              "des-ede3-cbc",
            ),
          };
    const security: PlistDict =
      facts.family === "macos"
        ? {
            FDE_Enabled: encrypted,
            FDE_HasPersonalRecoveryKey: encrypted,
            FDE_HasInstitutionalRecoveryKey: false,
            IsRecoveryLockEnabled: state.recoveryLock !== "",
            ...key,
          }
        : { PasscodePresent: state.hasPasscode, PasscodeCompliant: true, HardwareEncryptionCaps: 3 };
    return { SecurityInfo: { ...security, ManagementStatus: { EnrolledViaDEP: false, UserApprovedEnrollment: true } } };
  },
  CertificateList: (_command, { identity }) => ({
    CertificateList: [
      { CommonName: commonNameOf(new X509Certificate(identity).subject), IsIdentity: true, Data: identity },
    ],
  }),
  InstalledApplicationList: (_command, { state }) => ({
    InstalledApplicationList: [...state.applications].map(([Identifier, { name, version }]) => ({
      Identifier,
      Name: name,
      Version: version,
      ShortVersion: version,
      BundleSize: 1_000_000,
      Installing: false,
    })),
  }),
  InstallEnterpriseApplication(command) {
    if (stringIn(command, "ManifestURL") === null && command.Manifest === undefined)
      throw new CommandRefused(12_026, "MCMDMErrorDomain", "The command has no manifest.");
    return {};
  },
  InstallApplication: () => ({ State: "Queued" }),
  DeviceLock(_command, { state }) {
    state.locked = true;
    return { MessageResult: "Success" };
  },
  EraseDevice(_command, { state }) {
    state.erased = true;
    return {};
  },
  ClearPasscode(command, { facts, state }) {
    if (facts.family === "macos" || bytesIn(command, "UnlockToken") === null)
      throw new CommandRefused(12_004, "MCMDMErrorDomain", "The passcode cannot be cleared without the unlock token.");
    state.hasPasscode = false;
    return {};
  },
  EnableLostMode(_command, { state }) {
    state.lost = true;
    return {};
  },
  DisableLostMode(_command, { state }) {
    state.lost = false;
    return {};
  },
  SetRecoveryLock(command, { state }) {
    if (state.recoveryLock !== "" && stringIn(command, "CurrentPassword") !== state.recoveryLock)
      throw new CommandRefused(12_082, "MCMDMErrorDomain", "The current recovery lock password is wrong.");
    state.recoveryLock = stringIn(command, "NewPassword") ?? "";
    return {};
  },
  VerifyRecoveryLock: (command, { state }) => ({
    PasswordVerified: stringIn(command, "Password") === state.recoveryLock,
  }),
  DeviceConfigured(_command, { state }) {
    state.awaitsConfiguration = false;
    return {};
  },
  AccountConfiguration(command, { facts, state }) {
    const [account] = dictsIn(command, "AutoSetupAdminAccounts");
    const shortName = account ? stringIn(account, "shortName") : null;
    if (shortName !== null) state.managedAccount = { GUID: facts.udid, shortName };
    return {};
  },
  SetAutoAdminPassword(command, { state }) {
    if (state.managedAccount === null || stringIn(command, "GUID") !== state.managedAccount.GUID)
      throw new CommandRefused(12_021, "MCMDMErrorDomain", "There is no such account.");
    return {};
  },
  DeclarativeManagement: nothing,
  Settings: (command, { state }) => ({
    Settings: dictsIn(command, "Settings").map((setting) => {
      const Item = stringIn(setting, "Item") ?? "";
      if (Item === "DeviceName") state.name = stringIn(setting, "DeviceName") ?? state.name;
      return { Item, Status: "Acknowledged" };
    }),
  }),
  RestartDevice: nothing,
  ShutDownDevice: nothing,
  RemoveApplication: nothing,
  ScheduleOSUpdate: () => ({ UpdateResults: [] }),
};

const badProfile = () => new CommandRefused(1000, "MCProfileErrorDomain", "The profile is malformed.");

function readProfile(payload: Buffer | null): PlistDict {
  if (payload === null) throw badProfile();
  try {
    return profileIn(payload);
  } catch {
    throw badProfile();
  }
}

/** The certificate that the escrow payload names by its uuid. */
function escrowCertificate(payloads: readonly PlistDict[]): Buffer | null {
  const escrow = payloads.find(
    (payload) => stringIn(payload, "PayloadType") === "com.apple.security.FDERecoveryKeyEscrow",
  );
  const uuid = escrow && stringIn(escrow, "EncryptCertPayloadUUID");
  const named = uuid == null ? undefined : payloads.find((payload) => stringIn(payload, "PayloadUUID") === uuid);
  return named ? bytesIn(named, "PayloadContent") : null;
}

/** Six groups of four letters and digits. */
const newRecoveryKey = (random: Random): string =>
  Array.from({ length: 6 }, () => random.hex(4).toUpperCase()).join("-");

const commonNameOf = (subject: string): string => /^CN=(.*)$/m.exec(subject)?.[1] ?? "";

function information({ facts, state }: Doing): Readonly<Record<string, PlistValue>> {
  const { udid, serial, product, osVersion, build, family } = facts;
  const name = state.name ?? facts.name;
  return {
    UDID: udid,
    SerialNumber: serial,
    ProductName: product,
    Model: product,
    ModelName: product.replace(/[\d,]+$/, ""),
    DeviceName: name,
    OSVersion: osVersion,
    BuildVersion: build,
    DeviceCapacity: CAPACITY_GB,
    AvailableDeviceCapacity: CAPACITY_GB / 2,
    BatteryLevel: 0.8,
    WiFiMAC: macAddress(udid, 0),
    BluetoothMAC: macAddress(udid, 1),
    IsSupervised: false,
    IsMDMLostModeEnabled: state.lost,
    IsActivationLockEnabled: false,
    AwaitingConfiguration: state.awaitsConfiguration,
    TimeZone: "Etc/UTC",
    ...(state.managedAccount ? { AutoSetupAdminAccounts: [state.managedAccount] } : {}),
    ...(family === "macos" ? { HostName: name, LocalHostName: name.replaceAll(" ", "-") } : {}),
  };
}

const macAddress = (udid: string, index: number): string =>
  `02:${udid
    .replaceAll("-", "")
    .slice(index * 10, index * 10 + 10)
    .match(/../g)!
    .join(":")
    .toLowerCase()}`;

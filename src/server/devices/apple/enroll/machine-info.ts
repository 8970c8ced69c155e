// What a device says about itself before it is enrolled, signed with the certificate that Apple has given it.

import { type KeyObject, X509Certificate } from "node:crypto";
import { readSignedData, type SignedData, signerCertificate, verifySigned } from "../../../../pki/signed-data.ts";
import { readPlistDict } from "../../../../plist/read.ts";
import { booleanIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { type Identity, verifyIdentity } from "../../../certificates/device-ca/identities.ts";
import type { Context, Services } from "../../../platform/core/context.ts";
import { measured } from "../../../platform/core/http/strangers.ts";
import { limit } from "../../../platform/core/limits.ts";
import { isOfTrustedDevice } from "./device-anchors.ts";

export interface MachineInfo {
  readonly udid: string;
  readonly serial: string;
  readonly product: string;
  readonly osVersion: string;
  /** The name by which the device looks for updates; empty: it does not report it. */
  readonly updateDevice: string;
  /** Whether the device understands that it has to be updated first. */
  readonly canUpdate: boolean;
}

/** The message is refused. The text is for the log only. */
export class BadMachineInfo extends Error {}

/** A message is a few kilobytes, most of it certificates. */
export const machineInfo = limit({
  what: "description of itself that an Apple device enrolls with",
  max: 64 * 1024,
  unit: "bytes",
  beyond: "The enrollment is refused.",
});
const MACHINE_INFO_MAX = machineInfo.max;
export const machineInfoCertificates = limit({
  what: "certificates in the description of itself that an Apple device enrolls with",
  max: 10,
  unit: "entries",
  beyond: "The rest is ignored.",
});
export const machineInfoText = limit({
  what: "`UDID` and `SERIAL` with which an Apple device enrolls",
  max: 255,
  unit: "characters",
  beyond: "The enrollment is refused.",
});

/** Throws `BadMachineInfo` unless a device that Apple has made has signed exactly this. */
export const readMachineInfo = (services: Pick<Context, "running" | "cost">, message: Buffer): MachineInfo =>
  machineInfoOf(measured(services, () => readByApple(services, message)));

/** The model of a device that hides which one it is, because it belongs to its user. */
export const readModel = (services: Pick<Context, "running" | "cost">, message: Buffer): string =>
  (
    stringIn(
      measured(services, () => readByApple(services, message)),
      "PRODUCT",
    ) ?? ""
  ).trim();

function readByApple(services: Pick<Services, "running">, message: Buffer): PlistDict {
  const data = refusing(() => readSignedData(message));
  const others = data.certificates.slice(0, machineInfoCertificates.max);
  return verifiedDict(data, (certificate) => keyOf(services, certificate, others));
}

/** Machine info of a device that signs with an identity of this server; null: it signs with another certificate. */
export async function readOwnMachineInfo(
  services: Pick<Context, "running" | "clock" | "store" | "cost">,
  message: Buffer,
): Promise<{ readonly identity: Identity; readonly info: MachineInfo } | null> {
  const data = measured(services, () => refusing(() => readSignedData(message)));
  const certificate = refusing(() => signerCertificate(data));
  const identity = certificate && (await verifyIdentity(services, certificate));
  const info = () => machineInfoOf(verifiedDict(data, () => identity!.publicKey));
  return identity && { identity, info: measured(services, info) };
}

const verifiedDict = (data: SignedData, keyOf: (certificate: Buffer) => KeyObject | null): PlistDict =>
  refusing(() => {
    verifySigned(data, keyOf);
    return readPlistDict(data.content!, { bytes: MACHINE_INFO_MAX });
  });

function machineInfoOf(dict: PlistDict): MachineInfo {
  const text = (key: string): string => (stringIn(dict, key) ?? "").trim();
  const info = {
    udid: text("UDID"),
    serial: text("SERIAL"),
    product: text("PRODUCT"),
    osVersion: text("OS_VERSION"),
    updateDevice: text("SOFTWARE_UPDATE_DEVICE_ID"),
    canUpdate: booleanIn(dict, "MDM_CAN_REQUEST_SOFTWARE_UPDATE") ?? false,
  };
  if (info.udid === "" || info.udid.length > machineInfoText.max) throw new BadMachineInfo("it has no UDID");
  if (info.serial === "" || info.serial.length > machineInfoText.max) throw new BadMachineInfo("it has no SERIAL");
  return info;
}

function keyOf(services: Pick<Services, "running">, certificate: Buffer, others: readonly Buffer[]) {
  const signer = new X509Certificate(certificate);
  const chain = others.map((encoded) => new X509Certificate(encoded));
  return isOfTrustedDevice(services, signer, chain) ? signer.publicKey : null;
}

/** Whatever the bytes are, reading and verifying them only fails. */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new BadMachineInfo(error instanceof Error ? error.message : "");
  }
}

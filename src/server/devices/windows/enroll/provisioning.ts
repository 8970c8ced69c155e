// The settings with which a device begins to be managed (MS-MDE2, 3.3.4).
import { createHash } from "node:crypto";
import { type Characteristic, characteristic, type Parameter } from "../../../../soap/provisioning.ts";
import { ownMdm } from "../../../hosts/mdm-status/own.ts";

interface Certificates {
  /** DER. */
  readonly ca: Buffer;
  readonly certificate: Buffer;
  readonly isOfMachine: boolean;
}

/** Days before the certificate's end. */
const RENEW_WITHIN = 180;
const RETRY_EVERY = 4;

const thumbprint = (der: Buffer): string => createHash("sha1").update(der).digest("hex").toUpperCase();
const encoded = (der: Buffer): Parameter => ({ name: "EncodedCertificate", value: der.toString("base64") });
const storeOf = ({ isOfMachine }: Pick<Certificates, "isOfMachine">): string => (isOfMachine ? "System" : "User");

export const certificateStore = (certificates: Certificates): Characteristic =>
  characteristic(
    "CertificateStore",
    [],
    characteristic(
      "Root",
      [],
      characteristic("System", [], characteristic(thumbprint(certificates.ca), [encoded(certificates.ca)])),
    ),
    characteristic(
      "My",
      [],
      characteristic(
        storeOf(certificates),
        [],
        characteristic(thumbprint(certificates.certificate), [encoded(certificates.certificate)]),
        characteristic("PrivateKeyContainer"),
      ),
      characteristic(
        "WSTEP",
        [],
        characteristic("Renew", [
          { name: "ROBOSupport", value: "true", datatype: "boolean" },
          { name: "RenewPeriod", value: String(RENEW_WITHIN), datatype: "integer" },
          { name: "RetryInterval", value: String(RETRY_EVERY), datatype: "integer" },
        ]),
      ),
    ),
  );

interface Account {
  readonly url: string;
  readonly organization: string;
  readonly name: string;
  readonly secret: string;
  /** For the digest of the first message; base64. */
  readonly nonce: string;
  /** The secret with which the server would authenticate to the device. */
  readonly serverSecret: string;
  readonly serverNonce: string;
  /** The common name of the device's certificate. */
  readonly commonName: string;
  readonly isOfMachine: boolean;
}

export const application = (account: Account): Characteristic =>
  characteristic(
    "APPLICATION",
    [
      { name: "APPID", value: "w7" },
      { name: "PROVIDER-ID", value: ownMdm.providerId },
      { name: "NAME", value: account.organization },
      { name: "ADDR", value: account.url },
      { name: "CONNRETRYFREQ", value: "6" },
      { name: "INITIALBACKOFFTIME", value: "30000" },
      { name: "MAXBACKOFFTIME", value: "120000" },
      { name: "BACKCOMPATRETRYDISABLED" },
      { name: "DEFAULTENCODING", value: "application/vnd.syncml.dm+xml" },
      {
        name: "SSLCLIENTCERTSEARCHCRITERIA",
        value: `Subject=${encodeURIComponent(`CN=${account.commonName}`)}&Stores=MY%5C${storeOf(account)}`,
      },
    ],
    characteristic("APPAUTH", [
      { name: "AAUTHLEVEL", value: "CLIENT" },
      { name: "AAUTHTYPE", value: "DIGEST" },
      { name: "AAUTHSECRET", value: account.serverSecret },
      { name: "AAUTHDATA", value: account.serverNonce },
    ]),
    characteristic("APPAUTH", [
      { name: "AAUTHLEVEL", value: "APPSRV" },
      { name: "AAUTHTYPE", value: "DIGEST" },
      { name: "AAUTHNAME", value: account.name },
      { name: "AAUTHSECRET", value: account.secret },
      { name: "AAUTHDATA", value: account.nonce },
    ]),
  );

const integer = (name: string, value: number): Parameter => ({ name, value: String(value), datatype: "integer" });

/** How often the device asks by itself; minutes. */
export const polling = (): Characteristic =>
  characteristic(
    "DMClient",
    [],
    characteristic(
      "Provider",
      [],
      characteristic(
        ownMdm.providerId,
        [],
        characteristic("Poll", [
          integer("NumberOfFirstRetries", 8),
          integer("IntervalForFirstSetOfRetries", 15),
          integer("NumberOfSecondRetries", 5),
          integer("IntervalForSecondSetOfRetries", 3),
          integer("NumberOfRemainingScheduledRetries", 0),
          integer("IntervalForRemainingScheduledRetries", 1560),
          { name: "PollOnLogin", value: "true", datatype: "boolean" },
        ]),
      ),
    ),
  );

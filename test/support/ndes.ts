// The admin page of the enterprise directory's SCEP service, behind a real NTLM sign-in: three messages on one
// connection ([MS-NTHT]). The third one is verified according to [MS-NLMP], 3.3.2 (NTLMv2), with Node's own HMAC-MD5.
import { createHmac, timingSafeEqual } from "node:crypto";
import { type Fake, type Reply, type Request, startFake } from "./ca-fakes.ts";

/**
 * From [MS-NLMP], 4.2: user, domain, password, and the MD4 of the password in UTF-16, which OpenSSL no longer computes.
 */
export const NTLM_USER = "User";
export const NTLM_DOMAIN = "Domain";
export const NTLM_PASSWORD = "Password";
const NT_HASH = Buffer.from("a4f49c406510bdcab6824ee7c30fd852", "hex");

export type Page = "challenge" | "full" | "no permission" | "other";

export interface NdesServer extends Fake {
  page: Page;
  /** The format of the page. */
  encoding: "utf-16le with mark" | "utf-16le" | "utf-16be" | "utf-8";
  readonly adminUrl: string;
  readonly scepUrl: string;
}

export const NDES_CHALLENGE = "62DDAE53A4C8B3A1";

const pages: Record<Page, string> = {
  challenge:
    "<HTML><Head><Title>Network Device Enrollment Service</Title></Head><Body><P> The thumbprint (hash value) for the CA certificate is: " +
    `<B> 8D8E A1AC 85B1 4F4C </B> <P> The enrollment challenge password is: <B> ${NDES_CHALLENGE} </B> <P> This password can be used only once ` +
    "and will expire within 60 minutes. <P> Each enrollment requires a new challenge password.</Body></HTML>",
  full: "<HTML><Body><P> The password cache is full. <P> Either wait for one of the passwords to expire, or increase its size.</Body></HTML>",
  "no permission":
    "<HTML><Body><P> You do not have sufficient permission to enroll with SCEP. Please contact your system administrator.</Body></HTML>",
  other: "<HTML><Body><P> Something else entirely.</Body></HTML>",
};

const hmac = (key: Buffer, ...parts: Buffer[]) => createHmac("md5", key).update(Buffer.concat(parts)).digest();
const utf16 = (text: string) => Buffer.from(text, "utf16le");
const SERVER_CHALLENGE = Buffer.from("0123456789abcdef", "hex");

/** CHALLENGE_MESSAGE (MS-NLMP, 2.2.1.2), with target information. */
function type2(): Buffer {
  const pair = (id: number, value: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(id, 0);
    head.writeUInt16LE(value.length, 2);
    return Buffer.concat([head, value]);
  };
  const target = utf16("DOMAIN");
  const info = Buffer.concat([pair(2, target), pair(1, utf16("SERVER")), pair(0, Buffer.alloc(0))]);
  const head = Buffer.alloc(56);
  head.write("NTLMSSP\0", 0, "latin1");
  head.writeUInt32LE(2, 8);
  head.writeUInt16LE(target.length, 12);
  head.writeUInt16LE(target.length, 14);
  head.writeUInt32LE(56, 16);
  // Unicode, target name, NTLM, always sign, extended session security, target information.
  head.writeUInt32LE(0x00898205, 20);
  SERVER_CHALLENGE.copy(head, 24);
  head.writeUInt16LE(info.length, 40);
  head.writeUInt16LE(info.length, 42);
  head.writeUInt32LE(56 + target.length, 44);
  return Buffer.concat([head, target, info]);
}

/** AUTHENTICATE_MESSAGE (MS-NLMP, 2.2.1.3): whether its NTLMv2 response is that of the only user. */
function isUser(message: Buffer): boolean {
  const field = (at: number) => {
    const start = message.readUInt32LE(at + 4);
    return message.subarray(start, start + message.readUInt16LE(at));
  };
  const response = field(20);
  const domain = field(28).toString("utf16le");
  const user = field(36).toString("utf16le");
  if (user.toLowerCase() !== NTLM_USER.toLowerCase() || response.length < 44) return false;
  const key = hmac(NT_HASH, utf16(user.toUpperCase() + domain));
  return timingSafeEqual(hmac(key, SERVER_CHALLENGE, response.subarray(16)), response.subarray(0, 16));
}

export async function startNdes(certificate: Buffer): Promise<NdesServer> {
  const asked = new Set<number>();
  const refuse = (offer = "NTLM"): Reply => ({
    status: 401,
    headers: { "www-authenticate": ["Negotiate", offer], "content-type": "text/html" },
    body: "<h2>401 - Unauthorized</h2>",
  });
  const admin = ({ headers, connection }: Request): Reply => {
    const message = Buffer.from(/^NTLM (\S+)$/.exec(headers.authorization ?? "")?.[1] ?? "", "base64");
    if (message.toString("latin1", 0, 8) !== "NTLMSSP\0") return refuse();
    if (message.readUInt32LE(8) === 1) {
      asked.add(connection);
      return refuse(`NTLM ${type2().toString("base64")}`);
    }
    // The challenge is only valid on the connection on which it was sent.
    if (message.readUInt32LE(8) !== 3 || !asked.delete(connection) || !isUser(message)) return refuse();
    const text = pages[fake.page];
    const bodies = {
      "utf-16le with mark": () => Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(text)]),
      "utf-16le": () => utf16(text),
      "utf-16be": () => Buffer.concat([Buffer.from([0xfe, 0xff]), utf16(text).swap16()]),
      "utf-8": () => Buffer.from(text),
    };
    return { headers: { "content-type": "text/html" }, body: bodies[fake.encoding]() };
  };
  const started = await startFake((request): Reply => {
    if (request.url.pathname === "/CertSrv/mscep_admin/") return admin(request);
    const isScep = request.url.pathname === "/certsrv/mscep/mscep.dll";
    if (isScep && request.url.searchParams.get("operation") === "GetCACert")
      return { headers: { "content-type": "application/x-x509-ca-cert" }, body: certificate };
    return { status: 404 };
  });
  const fake: NdesServer = Object.assign(started, {
    page: "challenge" as Page,
    encoding: "utf-16le with mark" as const,
    adminUrl: `${started.url}/CertSrv/mscep_admin/`,
    scepUrl: `${started.url}/certsrv/mscep/mscep.dll`,
  });
  return fake;
}

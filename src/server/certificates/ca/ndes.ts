// The SCEP service of the enterprise directory (NDES). Its admin page, behind NTLM, shows a one-time challenge.
import type { Services } from "../../platform/core/context.ts";
import { type Fetch, makeFetch, OutboundError, type OutboundReply } from "../../platform/core/outbound/fetch.ts";
import {
  authenticateMessage,
  BadNtlm,
  type Challenge,
  negotiateMessage,
  passwordHashOf,
  readChallenge,
} from "./ntlm.ts";
import { CaError, plain } from "./upstream.ts";

interface Ndes {
  readonly adminUrl: string;
  /** `DOMAIN\name`, or a user principal name. */
  readonly username: string;
  readonly password: string;
}

const TIMEOUT = 20_000;
const MAX_BYTES = 1024 * 1024;

type Deps = Pick<Services, "settings" | "clock" | "random">;

export async function fetchNdesChallenge(services: Deps, ndes: Ndes): Promise<string> {
  // NTLM authenticates a connection, not a request, so this uses a connection of its own.
  const fetch = makeFetch(services.settings, undefined, 1);
  try {
    return challengeIn(pageText(await signIn(services, fetch, ndes)));
  } catch (error) {
    if (error instanceof OutboundError) throw plain(error);
    throw error;
  }
}

/** Exchanges the three NTLM messages ([MS-NTHT], [MS-NLMP]). */
async function signIn({ clock, random }: Deps, fetch: Fetch, { adminUrl, username, password }: Ndes): Promise<Buffer> {
  const ask = (authorization: string): Promise<OutboundReply> =>
    fetch(adminUrl, { headers: { authorization }, timeout: TIMEOUT, maxBytes: MAX_BYTES, redirects: 0 });

  const [domain, name] = splitUser(username);
  const first = await ask(`NTLM ${negotiateMessage().toString("base64")}`);
  if (first.status !== 401) throw unexpected(first);
  const header = ntlmOffer(first.headers);
  if (header === null) throw new CaError("answer", "the admin page does not ask for an NTLM sign-in", 401);
  const second = readOffer(header);
  const third = authenticateMessage({
    ...second,
    clientChallenge: Buffer.from(random.token(8), "base64url"),
    now: clock.now(),
    domain,
    username: name,
    passwordHash: await passwordHashOf(password),
  });
  const reply = await ask(`NTLM ${third.toString("base64")}`);
  if (reply.status === 401)
    throw new CaError("credentials", "the admin page does not accept user name and password (status 401)", 401);
  if (reply.status !== 200) throw unexpected(reply);
  return reply.body;
}

function readOffer(message: string): { serverChallenge: Buffer; targetInfo: Buffer } {
  const { serverChallenge, targetInfo } = challengeOf(message);
  if (targetInfo === null) throw new CaError("answer", "the admin page does not support NTLM version 2", 401);
  return { serverChallenge, targetInfo };
}

function challengeOf(message: string): Challenge {
  try {
    return readChallenge(Buffer.from(message, "base64"));
  } catch (error) {
    if (!(error instanceof BadNtlm)) throw error;
    throw new CaError("answer", "the admin page's NTLM message cannot be read", 401);
  }
}

const unexpected = ({ status }: OutboundReply): CaError =>
  status === 403
    ? new CaError("permission", "the user may not open the admin page (status 403)", status)
    : new CaError("answer", `the admin page returned status ${status}`, status);

/** The server may send its authentication schemes in one header or in several. */
const ntlmOffer = (headers: Headers): string | null =>
  /(?:^|,)\s*NTLM ([A-Za-z0-9+/=]+)/i.exec(headers.get("www-authenticate") ?? "")?.[1] ?? null;

/** A user principal name is sent as a whole, without a domain. */
function splitUser(username: string): [string, string] {
  const at = username.indexOf("\\");
  return at === -1 ? ["", username] : [username.slice(0, at), username.slice(at + 1)];
}

/** UTF-16, little-endian unless a byte order mark declares big-endian; plain text if there is no zero byte. */
function pageText(bytes: Buffer): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString("utf16le");
  return bytes.includes(0) ? bytes.toString("utf16le") : bytes.toString("utf8");
}

const CHALLENGE = /The enrollment challenge password is:\s*(?:<[^>]{0,40}>\s*)*<B>\s*([^\s<>]{1,256})/i;

function challengeIn(page: string): string {
  const challenge = CHALLENGE.exec(page)?.[1];
  if (challenge !== undefined) return challenge;
  if (/password cache is full/i.test(page))
    throw new CaError(
      "full",
      "its cache of challenges is full: wait until some end (60 minutes as it is set up), or let it keep more than five",
    );
  if (/do not have sufficient permission/i.test(page))
    throw new CaError(
      "permission",
      "the user may not request challenges: it needs the right to enroll for the template",
    );
  throw new CaError("answer", "the admin page shows no challenge");
}

// Reads messages, and the commands that users write. Limits keep hostile messages cheap.
import { decodeXml } from "../xml/decode.ts";
import { parseXml, type XmlElement, XmlProblem } from "../xml/xml.ts";
import {
  BadSyncml,
  type Challenge,
  type Credentials,
  containerVerbs,
  replyVerbs,
  requestVerbs,
  type SyncCommand,
  type SyncHeader,
  type SyncItem,
  type SyncMessage,
  type SyncVerb,
} from "./value.ts";

export const SYNCML = "SYNCML:SYNCML1.2";
export const METINF = "syncml:metinf";

/** Elements and attributes of one message. A message of half a megabyte has some thousands. */
const MAX_ELEMENTS = 20_000;
/** The header of a message, which is all that is read of a device that is not known. */
const HEADER = { bytes: 16 * 1024, parts: 100, end: "</SyncHdr>" } as const;
/** An Atomic in a Sequence is as deep as it gets. */
const NESTING_MAX = 4;
const ID_MAX = 255;
const URI_MAX = 2_048;

const verbs = new Set<string>([...requestVerbs, ...containerVerbs, ...replyVerbs, "Alert"]);

/** The message in these bytes. Throws `BadSyncml`. */
export function readSyncml(bytes: Uint8Array): SyncMessage {
  const text = decodedXml(bytes);
  const root = parsed(text);
  const header = headerIn(root);
  const body = sole(root, "SyncBody") ?? stop("has no SyncBody");
  return { header, commands: commandsIn(body, text, 0), isFinal: sole(body, "Final") !== null };
}

/** Only the header, whatever follows it. Throws `BadSyncml`. */
export function readSyncHeader(bytes: Uint8Array): SyncHeader {
  const text = decodedXml(bytes.subarray(0, HEADER.bytes), true);
  const end = text.indexOf(HEADER.end);
  if (end === -1) stop("has no SyncHdr at its beginning");
  return headerIn(parsed(`${text.slice(0, end)}${HEADER.end}</SyncML>`, HEADER.parts));
}

function headerIn(root: XmlElement): SyncHeader {
  if (root.name !== "SyncML" || root.uri !== SYNCML) stop("does not begin with the element SyncML of version 1.2");
  const header = sole(root, "SyncHdr") ?? stop("has no SyncHdr");
  return {
    sessionId: needed(header, "SessionID", ID_MAX),
    msgId: needed(header, "MsgID", ID_MAX),
    target: locationOf(header, "Target") ?? stop("has no Target in its SyncHdr"),
    source: locationOf(header, "Source") ?? stop("has no Source in its SyncHdr"),
    credentials: credentialsOf(header),
    maxMsgSize: sizeOf(header),
  };
}

/** Commands without a message around them. Those that lack a CmdID get an empty one. */
export function readCommands(text: string): readonly SyncCommand[] {
  const whole = `<SyncBody xmlns="${SYNCML}">${text}</SyncBody>`;
  return commandsIn(parsed(whole), whole, 0, true);
}

/**
 * The statuses and results in a reply that a device has written as text, for its agent. It may have no namespaces, and
 * a declaration of an encoding that it does not have.
 */
export function readReplies(text: string): readonly SyncCommand[] {
  const whole = `<Reply xmlns="${SYNCML}">${text.replace(/^\uFEFF?\s*<\?xml[^>]*\?>/, "")}</Reply>`;
  const root = sole(parsed(whole), "SyncML") ?? stop("has no element SyncML");
  return commandsIn(sole(root, "SyncBody") ?? stop("has no SyncBody"), whole, 0);
}

/** `isCut`: the last character may be incomplete. */
function decodedXml(bytes: Uint8Array, isCut = false): string {
  try {
    return decodeXml(bytes, { isCut });
  } catch (error) {
    if (error instanceof XmlProblem) throw notAccepted(error);
    throw error;
  }
}

function parsed(text: string, most = MAX_ELEMENTS): XmlElement {
  try {
    return parseXml(text, { most, lenient: true });
  } catch (error) {
    if (error instanceof XmlProblem) throw notAccepted(error);
    throw error;
  }
}

const notAccepted = ({ message }: XmlProblem) => new BadSyncml(`the SyncML is not accepted: ${message}`);

function commandsIn(body: XmlElement, text: string, depth: number, isFragment = false): SyncCommand[] {
  if (depth > NESTING_MAX) stop("has too many commands inside of each other");
  if (isFragment && body.text.trim() !== "") stop("has text outside of its commands");
  return body.children.flatMap((child) => {
    if (child.uri === SYNCML && verbs.has(child.name)) return commandOf(child, text, depth, isFragment);
    if (isFragment) stop(`has the element ${child.name.slice(0, 50)}, which is not a command`);
    return [];
  });
}

function commandOf(element: XmlElement, text: string, depth: number, isFragment: boolean): SyncCommand {
  const verb = element.name as SyncVerb;
  const isContainer = (containerVerbs as readonly string[]).includes(verb);
  const meta = sole(element, "Meta");
  return {
    verb,
    cmdId: textIn(element, "CmdID", ID_MAX) ?? (isFragment ? "" : stop(`has a ${verb} without CmdID`)),
    msgRef: textIn(element, "MsgRef", ID_MAX),
    cmdRef: textIn(element, "CmdRef", ID_MAX),
    cmd: textIn(element, "Cmd", ID_MAX),
    data: isContainer ? null : textIn(element, "Data", ID_MAX),
    challenge: challengeOf(element),
    format: meta && metaText(meta, "Format"),
    type: meta && metaText(meta, "Type"),
    items: all(element, "Item").map((item) => itemOf(item, text)),
    commands: isContainer ? inner(element, text, depth, isFragment) : [],
  };
}

const parts = new Set(["CmdID", "Meta"]);

function inner(element: XmlElement, text: string, depth: number, isFragment: boolean): SyncCommand[] {
  const children = element.children.filter(({ name }) => !parts.has(name));
  return commandsIn({ ...element, children }, text, depth + 1, isFragment);
}

function itemOf(item: XmlElement, text: string): SyncItem {
  const meta = sole(item, "Meta");
  const data = sole(item, "Data");
  return {
    target: locationOf(item, "Target"),
    source: locationOf(item, "Source"),
    format: meta && metaText(meta, "Format"),
    type: meta && metaText(meta, "Type"),
    // Some send markup as it is, where others escape it: to the node, it is the same text.
    data: data && (data.children.length === 0 ? data.text : text.slice(data.content.from, data.content.to)),
  };
}

function challengeOf(element: XmlElement): Challenge | null {
  const meta = sole(element, "Chal") && sole(sole(element, "Chal")!, "Meta");
  if (!meta) return null;
  return {
    format: metaText(meta, "Format") ?? "",
    type: metaText(meta, "Type") ?? "",
    nextNonce: metaText(meta, "NextNonce") ?? "",
  };
}

function credentialsOf(header: XmlElement): Credentials | null {
  const cred = sole(header, "Cred");
  if (!cred) return null;
  const meta = sole(cred, "Meta");
  return {
    format: (meta && metaText(meta, "Format")) ?? "",
    type: (meta && metaText(meta, "Type")) ?? "",
    data: textIn(cred, "Data", ID_MAX) ?? "",
  };
}

function sizeOf(header: XmlElement): number | null {
  const meta = sole(header, "Meta");
  const size = meta && metaText(meta, "MaxMsgSize");
  return size && /^\d{1,9}$/.test(size) ? Number(size) : null;
}

const all = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter((child) => child.name === name && child.uri === SYNCML);

function sole(element: XmlElement, name: string): XmlElement | null {
  let match: XmlElement | null = null;
  for (const child of element.children) {
    if (child.name !== name || child.uri !== SYNCML) continue;
    if (match) stop(`has several elements ${name} in one ${element.name.slice(0, 50)}`);
    match = child;
  }
  return match;
}

function textIn(element: XmlElement, name: string, most: number): string | null {
  const child = sole(element, name);
  if (!child) return null;
  const text = child.text.trim();
  if (text.length > most) stop(`has a ${name} that is too long`);
  return text;
}

const needed = (element: XmlElement, name: string, most: number): string =>
  textIn(element, name, most) || stop(`has no ${name}`);

function locationOf(element: XmlElement, name: string): string | null {
  const child = sole(element, name);
  return child && textIn(child, "LocURI", URI_MAX);
}

/** A text of metadata, whose namespace some senders forget. */
function metaText(meta: XmlElement, name: string): string | null {
  const part = meta.children.find((child) => child.name === name && [METINF, SYNCML].includes(child.uri));
  if (!part) return null;
  if (part.text.length > ID_MAX) stop(`has a ${name} that is too long`);
  return part.text.trim();
}

function stop(reason: string): never {
  throw new BadSyncml(`the SyncML ${reason}`);
}

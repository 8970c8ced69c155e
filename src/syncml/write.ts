// Writes messages. The order of elements is that of the representation protocol's DTD.
import { xmlText } from "../xml/write.ts";
import { METINF, SYNCML } from "./read.ts";
import type { Challenge, Credentials, SyncCommand, SyncHeader, SyncItem, SyncMessage } from "./value.ts";

/** Throws for what XML cannot contain: control characters, and halves of characters. */
export const writeSyncml = ({ header, commands, isFinal }: SyncMessage): string =>
  `<SyncML xmlns="${SYNCML}">${headerText(header)}<SyncBody>${writeCommands(commands)}${isFinal ? "<Final/>" : ""}</SyncBody></SyncML>`;

export const writeCommands = (commands: readonly SyncCommand[]): string => commands.map(commandText).join("");

const element = (name: string, text: string | null): string =>
  text === null ? "" : `<${name}>${xmlText(text)}</${name}>`;
const wrapped = (name: string, content: string): string => (content === "" ? "" : `<${name}>${content}</${name}>`);
const location = (name: string, uri: string | null): string => wrapped(name, element("LocURI", uri));

const metaElement = (name: string, text: string | null): string =>
  text === null ? "" : `<${name} xmlns="${METINF}">${xmlText(text)}</${name}>`;
const meta = ({ format, type }: { readonly format: string | null; readonly type: string | null }): string =>
  wrapped("Meta", metaElement("Format", format) + metaElement("Type", type));

const headerText = ({ sessionId, msgId, target, source, credentials, maxMsgSize }: SyncHeader): string =>
  wrapped(
    "SyncHdr",
    [
      element("VerDTD", "1.2"),
      element("VerProto", "DM/1.2"),
      element("SessionID", sessionId),
      element("MsgID", msgId),
      location("Target", target),
      location("Source", source),
      credentials === null ? "" : credentialsText(credentials),
      maxMsgSize === null ? "" : wrapped("Meta", metaElement("MaxMsgSize", String(maxMsgSize))),
    ].join(""),
  );

const credentialsText = ({ format, type, data }: Credentials): string =>
  wrapped("Cred", meta({ format, type }) + element("Data", data));

const challengeText = ({ format, type, nextNonce }: Challenge): string =>
  wrapped(
    "Chal",
    wrapped("Meta", metaElement("Format", format) + metaElement("Type", type) + metaElement("NextNonce", nextNonce)),
  );

const itemText = (item: SyncItem): string =>
  `<Item>${location("Target", item.target)}${location("Source", item.source)}${meta(item)}${element("Data", item.data)}</Item>`;

const commandText = (command: SyncCommand): string =>
  `<${command.verb}>${[
    element("CmdID", command.cmdId),
    element("MsgRef", command.msgRef),
    element("CmdRef", command.cmdRef),
    element("Cmd", command.cmd),
    command.challenge === null ? "" : challengeText(command.challenge),
    // The data of a status comes before its items, that of an alert as well.
    element("Data", command.data),
    meta(command),
    command.items.map(itemText).join(""),
    writeCommands(command.commands),
  ].join("")}</${command.verb}>`;

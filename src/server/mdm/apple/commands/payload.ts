import { readPlistDict } from "../../../../plist/read.ts";
import { writePlist } from "../../../../plist/write.ts";
import { CONTENT_MAX } from "./kind.ts";

/** A command as the device gets it. */
export const applePayload = (CommandUUID: string, content: string): string =>
  writePlist({ CommandUUID, Command: readPlistDict(Buffer.from(content), CONTENT_MAX) });

import { readPlistDict } from "../../../../plist/read.ts";
import type { PlistDict } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { CONTENT_MAX } from "./kind.ts";

export const storedCommand = (content: string): PlistDict => readPlistDict(Buffer.from(content), CONTENT_MAX);

/** A command as the device gets it. */
export const applePayload = (CommandUUID: string, Command: PlistDict): string => writePlist({ CommandUUID, Command });

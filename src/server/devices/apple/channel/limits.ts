// What an Apple device may set of itself in its channel.
import type { PlistDict } from "../../../../plist/value.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import { limit } from "../../../platform/core/limits.ts";

const refused = "The message is refused with 400, and nothing is stored.";
const cut = "The rest is cut off.";

/** Members of check-in messages that are stored as they are, by their keys. */
export const appleTexts = {
  EnrollmentID: limit({ what: "`EnrollmentID` of an Apple device", max: 255, unit: "characters", beyond: refused }),
  UDID: limit({ what: "`UDID` of an Apple device", max: 255, unit: "characters", beyond: refused }),
  UserID: limit({ what: "`UserID` of a user of a Mac", max: 255, unit: "characters", beyond: refused }),
  Topic: limit({ what: "`Topic` of an Apple device", max: 255, unit: "characters", beyond: refused }),
  PushMagic: limit({ what: "`PushMagic` of an Apple device", max: 255, unit: "characters", beyond: refused }),
  Token: limit({ what: "push `Token` of an Apple device", max: 256, unit: "bytes", beyond: refused }),
  UnlockToken: limit({ what: "`UnlockToken` of an Apple device", max: 64 * 1024, unit: "bytes", beyond: refused }),
  BootstrapToken: limit({ what: "`BootstrapToken` of a Mac", max: 16 * 1024, unit: "bytes", beyond: refused }),
};

/** Limit of each text in which a device describes itself, such as `DeviceName`. */
export const appleFact = limit({
  what: "`SerialNumber`, `ProductName`, `Model`, `DeviceName`, `OSVersion` and `BuildVersion` of an Apple device",
  max: 255,
  unit: "characters",
  beyond: cut,
});

export const appleUsers = limit({
  what: "users of a Mac with a channel of their own",
  max: 100,
  unit: "entries",
  per: "host",
  beyond: "The message of another user is refused with 400.",
});

/** Throws 400 if a member of the message is larger than its limit. */
export function checkSizes(message: PlistDict): void {
  for (const [key, { max, unit }] of Object.entries(appleTexts)) {
    const value = Object.hasOwn(message, key) ? message[key] : undefined;
    if ((typeof value === "string" || Buffer.isBuffer(value)) && value.length > max)
      throw badRequest(`${key} has more than ${max} ${unit}`, key);
  }
}

// What check-in messages and the challenges of enrollment profiles say.
import { type PlistDict, stringIn } from "../../../../plist/value.ts";

/** The purpose of challenges with which Apple devices get their identities. */
export const APPLE_ENROLLMENT = "apple_enrollment";

/** What challenges contain of the address to which the enrollment profile lets a device connect. */
export const CONNECTS_TO = "connects_to";

/** What challenges say of identities that renew the one of an enrollment. */
export const RENEWS = "renews_enrollment";

/** The message is refused. The device gets no reason. */
export class NotAllowed extends Error {}

/** UDID, or the EnrollmentID of a personal device. Null: the message has neither. */
export const enrollmentIdOf = (message: PlistDict): string | null =>
  stringIn(message, "UDID") ?? stringIn(message, "EnrollmentID");

/** Ends the id of a device in the id of its user's channel. */
export const USER_SEPARATOR = ":";

/**
 * Null: the message is the device's own. On a Shared iPad all users have an id of F's: their short name distinguishes
 * them.
 */
export function userIdOf(message: PlistDict): string | null {
  const id = stringIn(message, "UserID") ?? stringIn(message, "EnrollmentUserID");
  return id !== null && /^[F-]+$/.test(id) ? (stringIn(message, "UserShortName") ?? id) : id;
}

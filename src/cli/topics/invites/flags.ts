// The flags of an invite: those of a user, except the picture.
import { userFlags } from "../users.ts";

const { "gravatar-url": _, ...offered } = userFlags;
export const inviteFlags = offered;

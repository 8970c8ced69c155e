// An invite's flags: those of a user that are offered with it.
import { userFlags } from "./user-view.ts";

const { "gravatar-url": _, ...offered } = userFlags;
export const inviteFlags = offered;

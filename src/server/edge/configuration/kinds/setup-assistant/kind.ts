import type { SetupAssistantRow } from "../../../../devices/apple/portal/assistants.ts";
import { isNull } from "../../../../platform/store/query.ts";
import type { Kind } from "../../kind.ts";
import { BATCH_SIZE, inPages, ofTier } from "../../shared-rows.ts";
import { assistantThings, type DesiredAssistant, readAssistant } from "./value.ts";
import { removeAssistants, tryAssistants, writeAssistants } from "./write.ts";

/** Each owner has one at most. That of hosts without a team belongs to the organization, as all controls of these hosts do. */
export const setupAssistant: Kind<readonly SetupAssistantRow[], DesiredAssistant, void> = {
  name: "setup_assistant",
  owners: ["global", "team"],
  per: "many",
  noun: "setup assistant profile",
  action: () => "setup:write",
  load: (ctx) =>
    inPages(ctx.store.setupAssistants.pages({ where: ofTier(ctx, "setup:write", isNull("team_id")) }, BATCH_SIZE)),
  things: assistantThings,
  read: readAssistant,
  prepare: tryAssistants,
  write: writeAssistants,
  remove: removeAssistants,
};

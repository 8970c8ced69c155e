import { SCRIPT_CHANGES } from "../../../../delivery/scripts/saved.ts";
import { isNull } from "../../../../platform/store/query.ts";
import { textsOf } from "../../../../software/script-texts/texts.ts";
import type { Kind } from "../../kind.ts";
import { BATCH_SIZE, inPages, ofTier } from "../../shared-rows.ts";
import { type DesiredScript, readScript, type ScriptRows, scriptThings } from "./value.ts";
import { deleteScripts, writeScripts } from "./write.ts";

/** Scripts of hosts without a team belong to the organization, as all controls of these hosts do. */
export const script: Kind<ScriptRows, DesiredScript> = {
  name: "script",
  owners: ["global", "team"],
  per: "many",
  lock: SCRIPT_CHANGES.lock,
  action: () => "scripts:write",
  async load(ctx) {
    const scripts = await inPages(
      ctx.store.scripts.pages({ where: ofTier(ctx, "scripts:write", isNull("team_id")) }, BATCH_SIZE),
    );
    const digests = await textsOf(ctx.store, scripts, ["id", "digest"]);
    return { scripts, digests: new Map(digests.map(({ id, digest }) => [id, digest])) };
  },
  things: scriptThings,
  async contents({ store }, { scripts }) {
    const texts = await textsOf(store, scripts, ["digest", "content"]);
    return new Map(texts.map(({ digest, content }) => [digest, Buffer.from(content)]));
  },
  read: readScript,
  write: writeScripts,
  remove: deleteScripts,
};

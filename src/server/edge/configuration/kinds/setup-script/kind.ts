import { readScript } from "../../../../delivery/scripts/file.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { isNull } from "../../../../platform/store/query.ts";
import { textsOf } from "../../../../software/script-texts/texts.ts";
import type { RequestedChange } from "../../changes.ts";
import type { Kind } from "../../kind.ts";
import { parsed } from "../../parse.ts";
import { BATCH_SIZE, inPages, ofTier, ownersOf, type SharedRows } from "../../shared-rows.ts";
import type { Contents, Texts, Thing } from "../../values.ts";
import type { DesiredSetupScript, SetupScriptRows } from "./write.ts";
import { KIND, Value, writeSetupScripts } from "./write.ts";

function* things({ scripts, digests }: SetupScriptRows, shared: SharedRows): Generator<Thing> {
  const ownerOf = ownersOf(shared);
  for (const row of scripts) {
    const owner = ownerOf(row);
    if (owner !== undefined)
      yield { kind: KIND, owner, name: row.name, value: { sha256: digests.get(row.text_id) ?? "" } };
  }
}

function read(_: Context, { name, value }: RequestedChange, _texts: Texts, contents: Contents): DesiredSetupScript {
  const input = parsed(Value, value);
  const bytes = contents.get(input.sha256);
  return { value: input, text: bytes === undefined ? undefined : readScript({ bytes, name }, "value") };
}

/**
 * The script that hosts run at the end of their setup: at most one for each owner. As of all controls, those of hosts
 * without a team belong to the organization.
 */
export const setupScript: Kind<SetupScriptRows, DesiredSetupScript> = {
  name: KIND,
  owners: ["global", "team"],
  per: "many",
  action: () => "setup:write",
  async load(ctx) {
    const where = ofTier(ctx, "setup:write", isNull("team_id"));
    const scripts = await inPages(ctx.store.setupScripts.pages({ where }, BATCH_SIZE));
    const digests = await textsOf(ctx.store, scripts, ["id", "digest"]);
    return { scripts, digests: new Map(digests.map(({ id, digest }) => [id, digest])) };
  },
  things,
  async contents({ store }, { scripts }) {
    const texts = await textsOf(store, scripts, ["digest", "content"]);
    return new Map(texts.map(({ digest, content }) => [digest, Buffer.from(content)]));
  },
  read,
  write: writeSetupScripts,
};

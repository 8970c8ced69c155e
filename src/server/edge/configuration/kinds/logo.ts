// The organization's logo for dark and for light backgrounds. Its address is a setting, which follows the image.
import { z } from "zod";
import { LOGO_MAX, type LogoMode } from "../../../../api/settings/logo.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { may } from "../../../platform/core/security/access.ts";
import { filesOf, keepFile, startOf } from "../../../platform/files/service.ts";
import { checkLogo, dropLogo, type LogoRow, logoOf, putLogo } from "../../../settings/logo/service.ts";
import { locating, refusal, type Step } from "../changes.ts";
import type { Kind, Part } from "../kind.ts";
import { parsed } from "../parse.ts";
import { count, differs, type Work } from "../work.ts";
import { digestsOf } from "./large-file.ts";

const Value = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest in hex" }),
});

interface Rows {
  readonly logo: LogoRow | null;
  readonly sha256: string;
}

interface DesiredLogo {
  readonly value: z.output<typeof Value>;
  /** If the request contains the image. */
  readonly content: Buffer | undefined;
}

async function* parts(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

const logoKind = (mode: LogoMode): Kind<Rows, DesiredLogo, void> => {
  const name = `logo_${mode}`;
  return {
    name,
    owners: ["global"],
    per: "many",
    noun: `logo for ${mode} backgrounds`,
    action: () => "config:write",
    async load(ctx) {
      const logo = may(ctx.user, "config:write", null) ? await logoOf(ctx.store, mode) : null;
      return { logo, sha256: (logo && (await digestsOf(ctx, [logo.file_id])).get(logo.file_id)) ?? "" };
    },
    *things({ logo, sha256 }) {
      if (logo) yield { kind: name, owner: null, name, value: { sha256 } };
    },
    async contents(ctx, { logo, sha256 }) {
      return new Map(logo ? [[sha256, await startOf(ctx, logo.file_id, LOGO_MAX)]] : []);
    },
    read(_ctx, change, _texts, contents) {
      if (change.name !== name) throw invalid("change.name", `must be ${name}`);
      const value = parsed(Value, change.value);
      const bytes = contents.get(value.sha256);
      const content = bytes && Buffer.from(bytes);
      if (content) checkLogo(content, "sha256");
      return { value, content };
    },
    prepare: keepImages,
    async write(work: Work, { steps }: Part<Rows, DesiredLogo, void>) {
      const changed = steps.filter((step) => differs(work, step, step.desired.value));
      for (const step of changed) {
        const { value, content } = step.desired;
        if (
          content === undefined &&
          work.ctx.dryRun === null &&
          !(await filesOf(work.ctx, [value.sha256])).has(value.sha256)
        )
          throw refusal(step, invalid("sha256", "the request does not contain the file with this digest"));
        await locating(step, () => putLogo(inside(work), mode, value.sha256));
      }
      count(work, changed);
    },
    async remove(work, { gone }) {
      if (gone.length > 0) await dropLogo(inside(work), mode);
      count(work, gone);
    },
  };
};

/** With the settings as this apply has changed them. */
const inside = ({ ctx }: Work): Context => ({ ...ctx, config: ctx.config.over(ctx.store) });

/** Stores the images that the request contains, before the transaction. A dry run stores nothing. */
async function keepImages(ctx: Context, steps: readonly Step<DesiredLogo>[]): Promise<void> {
  if (ctx.dryRun !== null) return;
  for (const step of steps) {
    const { content } = step.desired;
    if (content) await locating(step, () => keepFile(ctx, parts(content), { maxBytes: LOGO_MAX }));
  }
}

export const darkLogo = logoKind("dark");
export const lightLogo = logoKind("light");

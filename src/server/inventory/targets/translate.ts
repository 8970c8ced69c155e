import type { z } from "zod";
import { translatable, type translatorApi } from "../../../api/inventory/translator.ts";
import { visibleUsers } from "../../accounts/users/service.ts";
import { IDENTIFIER_MAX } from "../../hosts/hosts/identifier.ts";
import { hostNamed } from "../../hosts/hosts/named.ts";
import { labelName } from "../../hosts/labels/names.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, badRequest, forbidden, notFound } from "../../platform/core/errors.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { maySomewhere, visible } from "../../platform/core/security/access.ts";
import { and, eq } from "../../platform/store/query.ts";

type TranslatorInput = z.output<(typeof translatorApi)["translate"]["body"]>["list"];
type Reply = z.output<(typeof translatorApi)["translate"]["response"]>;
type Kind = (typeof translatable)[number];

const isKind = (text: string): text is Kind => (translatable as readonly string[]).includes(text);

export async function translate(ctx: Context, list: TranslatorInput): Promise<Reply> {
  if (list.length === 0) throw badRequest("list must not be empty", "list");
  const entries = list.map(({ type, payload }, i) => {
    if (isKind(type)) return { type, payload };
    const error = { name: `list.${i}.type`, reason: `type must be one of ${translatable.join(", ")}` };
    throw new ApiError(400, "Bad request", [error], { code: 3 });
  });
  const translated: Reply["list"] = [];
  for (const { type, payload } of entries)
    translated.push({
      type,
      payload: { identifier: payload.identifier, id: await idOf(ctx, type, payload.identifier) },
    });
  return { list: translated };
}

async function idOf(ctx: Context, kind: Kind, name: string): Promise<number> {
  const { store } = ctx;
  switch (kind) {
    case "label":
      return (await store.labels.first({ where: eq("name", labelName(name)) }))?.id ?? 0;
    case "team": {
      const where = and(visible(ctx, "teams:list", "id"), eq("name_key", nameKey(name.trim())));
      return idOr(await store.teams.first({ where }), kind, name);
    }
    case "host":
      if (name.length > IDENTIFIER_MAX)
        throw badRequest(`an identifier of a host has at most ${IDENTIFIER_MAX} characters`, "identifier");
      return idOr(await hostNamed(ctx, name, visible(ctx, "hosts:identify")), kind, name);
    case "user":
      return userId(ctx, name);
  }
}

/** The caller, and users whom the caller may list. */
async function userId(ctx: Context, text: string): Promise<number> {
  const email = text.trim().toLowerCase();
  if (email === ctx.user.email.toLowerCase()) return ctx.user.id;
  if (!maySomewhere(ctx.user, "users:list")) throw forbidden();
  const where = and(visibleUsers(ctx.user), eq("email", email));
  return idOr(await ctx.store.users.first({ where }), "user", text);
}

function idOr(row: { id: number } | null, kind: Kind, name: string): number {
  if (!row) throw notFound(kind, name);
  return row.id;
}

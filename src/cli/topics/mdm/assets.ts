// What commands for asset declarations share.

import { Asset, assetsApi } from "../../../api/devices/assets.ts";
import type { ClientCommand } from "../../client-command.ts";
import { notFound } from "../../errors.ts";
import { args } from "../../flags.ts";
import type { View } from "../../output/output.ts";

export const assetArg = args.required("uuid, identifier or file name of the asset");

export const assetView: View = {
  schema: () => Asset,
  columns: [
    { key: "asset_uuid", header: "uuid" },
    { key: "asset", header: "file" },
    { key: "identifier" },
    { key: "created_at", header: "uploaded" },
  ],
};

/** Finds an asset within the given team. */
export async function findAsset(command: ClientCommand, text: string, team: string | undefined): Promise<Asset> {
  const { assets } = await command.call(assetsApi.list, { query: await command.teamFilter(team) });
  const match =
    assets.find(({ asset_uuid, identifier }) => asset_uuid === text || identifier === text) ??
    assets.find(({ asset }) => asset === text);
  if (match) return match;
  throw notFound(
    `there is no asset ${text}${team === undefined ? " for hosts without a team" : " of that team"}`,
    "`svc mdm assets list` shows them; a team's need --team.",
  );
}

// What commands for asset declarations share.
import { Asset, assetsApi } from "../../api/devices/assets.ts";
import { ClientCommand } from "../client-command.ts";
import { notFound } from "../errors.ts";
import { args } from "../flags.ts";
import type { View } from "../output/output.ts";

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

export abstract class AssetsCommand extends ClientCommand {
  /** Finds an asset within the given team. */
  protected async asset(text: string, team: string | undefined): Promise<Asset> {
    const { assets } = await this.call(assetsApi.list, { query: await this.teamFilter(team) });
    const found =
      assets.find(({ asset_uuid, identifier }) => asset_uuid === text || identifier === text) ??
      assets.find(({ asset }) => asset === text);
    if (found) return found;
    throw notFound(
      `there is no asset ${text}${team === undefined ? " for hosts without a team" : " of that team"}`,
      "`svc mdm assets list` shows them; a team's need --team.",
    );
  }
}

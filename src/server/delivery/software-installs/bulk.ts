// Installs a title on many hosts: on each of them what its team offers.
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import { lockOperations } from "../../hosts/operations/queue.ts";
import { actOnHosts, bulkTask } from "../../inventory/bulk-actions/run.ts";
import type { Choice } from "../../inventory/host-list/chosen.ts";
import type { Context } from "../../platform/core/context.ts";
import type { Reply } from "../../platform/core/http/route.ts";
import { requestInstall } from "./service.ts";

const permission = "software:install";

export const installTask = bulkTask<{ readonly titleId: number }>({
  name: "install_software",
  permission,
  onHost: async (ctx, hostId, { titleId }) => (await requestInstall(ctx, { hostId, titleId })).uuid,
  lock: lockOperations,
});

/** A title that does not exist is answered like one that is not offered to the hosts: each is skipped for this reason. */
export const installOnMany = (ctx: Context, titleId: number, choice: Choice, reply: Reply): Promise<BulkOutcome> =>
  actOnHosts(ctx, installTask, { permission, choice, options: { titleId } }, reply);

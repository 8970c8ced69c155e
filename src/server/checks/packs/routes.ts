import { packsApi } from "../../../api/checks/packs.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { entriesOfPack, getEntry, modifyInPack, removeFromPack, scheduleInPack } from "./scheduled.ts";
import { createPack, deletePack, deletePackByName, getPack, listPacks, modifyPack } from "./service.ts";
import { applyPackSpecs, getPackSpec, listPackSpecs } from "./specs.ts";

export const packRoutes: readonly Route[] = [
  route(packsApi.list, ({ query }, ctx) => listPacks(ctx, query)),
  route(packsApi.get, async ({ params }, ctx) => ({ pack: await getPack(ctx, params.id) })),
  route(packsApi.create, async ({ body }, ctx) => ({ pack: await createPack(ctx, body) })),
  route(packsApi.modify, async ({ params, body }, ctx) => ({ pack: await modifyPack(ctx, params.id, body) })),
  route(packsApi.deleteByName, async ({ params }, ctx) => {
    await deletePackByName(ctx, params.name);
    return {};
  }),
  route(packsApi.delete, async ({ params }, ctx) => {
    await deletePack(ctx, params.id);
    return {};
  }),
  route(packsApi.scheduled, async ({ params }, ctx) => ({ scheduled: await entriesOfPack(ctx, params.id) })),
  route(packsApi.schedule, async ({ body }, ctx) => ({ scheduled: await scheduleInPack(ctx, body) })),
  route(packsApi.getScheduled, async ({ params }, ctx) => ({ scheduled: await getEntry(ctx, params.id) })),
  route(packsApi.modifyScheduled, async ({ params, body }, ctx) => ({
    scheduled: await modifyInPack(ctx, params.id, body),
  })),
  route(packsApi.deleteScheduled, async ({ params }, ctx) => {
    await removeFromPack(ctx, params.id);
    return {};
  }),
  route(packsApi.applySpecs, async ({ body }, ctx) => {
    await applyPackSpecs(ctx, body.specs);
    return {};
  }),
  route(packsApi.specs, async (_, ctx) => ({ specs: await listPackSpecs(ctx) })),
  route(packsApi.spec, async ({ params }, ctx) => ({ specs: await getPackSpec(ctx, params.name) })),
];

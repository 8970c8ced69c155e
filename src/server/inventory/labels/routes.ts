import { labelEffectsApi } from "../../../api/hosts/label-effects.ts";
import { labelsApi } from "../../../api/hosts/labels.ts";
import { changeHostLabels } from "../../hosts/labels/host-labels.ts";
import { route } from "../../platform/core/http/route.ts";
import { previewLabel } from "./preview.ts";
import {
  createLabel,
  deleteLabelById,
  deleteLabelByName,
  getLabel,
  listLabels,
  modifyLabel,
  summarizeLabels,
} from "./service.ts";
import { applyLabelSpecs, labelSpec, labelSpecs } from "./spec.ts";
import { labelUses } from "./uses.ts";

export const labelRoutes = [
  route(labelsApi.create, ({ body }, ctx) => createLabel(ctx, body)),
  route(labelsApi.modify, ({ params, body }, ctx) => modifyLabel(ctx, params.id, body)),
  route(labelsApi.get, ({ params }, ctx) => getLabel(ctx, params.id)),
  route(labelsApi.list, ({ query }, ctx) => listLabels(ctx, query)),
  route(labelsApi.summary, (_input, ctx) => summarizeLabels(ctx)),
  route(labelEffectsApi.uses, ({ params }, ctx) => labelUses(ctx, params.id)),
  route(labelEffectsApi.preview, ({ body }, ctx) => previewLabel(ctx, body)),
  route(labelsApi.delete, ({ params }, ctx) => deleteLabelByName(ctx, params.name)),
  route(labelsApi.deleteById, ({ params }, ctx) => deleteLabelById(ctx, params.id)),
  route(labelsApi.applySpecs, ({ body }, ctx) => applyLabelSpecs(ctx, body.specs)),
  route(labelsApi.specs, (_input, ctx) => labelSpecs(ctx)),
  route(labelsApi.spec, ({ params }, ctx) => labelSpec(ctx, params.name)),
  route(labelsApi.addToHost, ({ params, body }, ctx) => changeHostLabels(ctx, params.id, { add: body.labels })),
  route(labelsApi.removeFromHost, ({ params, body }, ctx) => changeHostLabels(ctx, params.id, { remove: body.labels })),
];

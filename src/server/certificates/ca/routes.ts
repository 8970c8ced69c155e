import { caApi as api } from "../../../api/certificates/ca.ts";
import { route } from "../../platform/core/http/route.ts";
import { requestCertificate } from "./request-certificate.ts";
import { createCa, deleteCa, getCa, listCas, modifyCa } from "./service.ts";
import { applyCaSpecs, caSpecs } from "./specs.ts";

export const caRoutes = [
  route(api.create, ({ body, query }, ctx) => createCa(ctx, body, query)),
  route(api.modify, ({ params, body, query }, ctx) => modifyCa(ctx, params.id, body, query)),
  route(api.list, (_input, ctx) => listCas(ctx)),
  route(api.get, ({ params }, ctx) => getCa(ctx, params.id)),
  route(api.delete, ({ params }, ctx) => deleteCa(ctx, params.id)),
  route(api.requestCertificate, ({ params, body }, ctx) => requestCertificate(ctx, params.id, body)),
  route(api.specs, (_input, ctx) => caSpecs(ctx)),
  route(api.applySpecs, ({ body, query }, ctx) => applyCaSpecs(ctx, body.certificate_authorities, query)),
];

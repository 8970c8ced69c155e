import { TUS_RESUMABLE, UPLOAD_LENGTH, UPLOAD_OFFSET, type Upload, uploadsApi } from "../../../api/platform/uploads.ts";
import { type Reply, route } from "../core/http/route.ts";
import { append } from "./pieces.ts";
import { beginUpload, getUpload, listUploads, removeUpload } from "./service.ts";

function describe({ headers }: Reply, { received, size }: Pick<Upload, "received" | "size">): void {
  Object.assign(headers, TUS_RESUMABLE, { [UPLOAD_OFFSET]: String(received), [UPLOAD_LENGTH]: String(size) });
}

export const uploadRoutes = [
  route(uploadsApi.list, ({ query }, ctx) => listUploads(ctx, query)),
  route(uploadsApi.create, async ({ body }, ctx, reply) => {
    const { upload, isNew } = await beginUpload(ctx, body);
    if (!isNew) reply.status = 200;
    return { upload };
  }),
  route(uploadsApi.get, async ({ params }, ctx, reply) => {
    const upload = await getUpload(ctx, params.id);
    describe(reply, upload);
    return { upload };
  }),
  route(uploadsApi.append, async ({ params, body }, ctx, reply) => {
    describe(reply, await append(ctx, params.id, body.bytes));
    return {};
  }),
  route(uploadsApi.remove, async ({ params }, ctx) => removeUpload(ctx, params.id)),
];

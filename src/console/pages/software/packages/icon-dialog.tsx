import type { ReactElement } from "react";
import { titleIconsApi } from "../../../../api/software/self-service.ts";
import { sentFile } from "../../../../client/browser-client.ts";
import { client, request } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { FileField, Form } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import type { OfferDialogProps } from "./offer.ts";
import { TitleIcon, useOutdateIcon } from "./title-icon.tsx";

/** The icon that users of the team's hosts see. */
export function IconDialog({ title, teamId, onClose }: OfferDialogProps): ReactElement {
  const outdate = useOutdateIcon();
  const input = { params: { id: String(title.id) }, query: { team_id: teamId } };
  const done = (text: string) => {
    notifyDone(text);
    void outdate();
    onClose();
  };
  const form = useForm({
    initial: { icon: null as File | null },
    send: ({ icon }) => {
      if (icon === null) throw new Error("Choose the image.");
      return client.call(titleIconsApi.set, { ...input, body: { icon: sentFile(icon) } });
    },
    onDone: () => done("The icon is set."),
    hasDryRun: false,
  });
  const remove = async () => {
    try {
      await request(() => client.call(titleIconsApi.delete, input));
      done("The icon is removed.");
    } catch (error) {
      notifyFailed(error);
    }
  };
  const isOwn = title.icon_url?.startsWith("/") ?? false;
  return (
    <Dialog title={`Icon of ${title.name}`} onClose={onClose}>
      <TitleIcon title={title} />
      <Form form={form} submit="Save" onCancel={onClose}>
        <FileField
          form={form}
          name="icon"
          label="Image"
          accept="image/png"
          hint="A square PNG image of 120 to 1024 pixels, at most 1 MiB."
        />
        {isOwn && (
          <button type="button" className="danger small" onClick={() => void remove()}>
            Remove the icon
          </button>
        )}
      </Form>
    </Dialog>
  );
}

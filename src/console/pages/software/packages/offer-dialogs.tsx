// What can be done with a package as with an app.
import type { ReactElement } from "react";
import { packagesApi } from "../../../../api/software/packages.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { useGo } from "../../../url.ts";
import InstallOnHostDialog from "../../delivery/software-installs/install-on-host-dialog.tsx";
import { IconDialog } from "./icon-dialog.tsx";
import { MakePolicyDialog } from "./make-policy-dialog.tsx";
import type { OfferDialogProps } from "./offer.ts";
import { useOutdateOffers } from "./use-outdate-offers.ts";

interface OfferDialogsProps extends OfferDialogProps {
  readonly name: "install" | "icon" | "policy" | "delete";
}

export default function OfferDialogs({ name, ...props }: OfferDialogsProps): ReactElement {
  switch (name) {
    case "install":
      return <InstallOnHostDialog {...props} />;
    case "icon":
      return <IconDialog {...props} />;
    case "policy":
      return <MakePolicyDialog {...props} />;
    case "delete":
      return <DeleteOfferDialog {...props} />;
  }
}

function DeleteOfferDialog({ title, teamId, offer, onClose }: OfferDialogProps): ReactElement {
  const outdate = useOutdateOffers();
  const go = useGo();
  const remove = async () => {
    await client.call(packagesApi.delete, { params: { id: String(title.id) }, query: { team_id: teamId } });
    notifyDone(`${offer.name} is deleted.`);
    // A title that is on no host is gone with what was offered of it.
    if (title.hosts_count === 0) go("/software");
    await outdate();
  };
  return (
    <ConfirmDialog title={`Delete ${offer.name}`} verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>
        The team no longer offers this {offer.what}. Hosts keep what they have installed; installations that have not
        begun are cancelled.
      </p>
    </ConfirmDialog>
  );
}

/** An optional script: it only shows the copy buttons. Everything else works without it. */
export const script = `for (const button of document.querySelectorAll("button[data-copy]")) {
  const from = document.getElementById(button.dataset.copy);
  if (!from || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(from.textContent.trim());
    const status = document.getElementById(button.dataset.status);
    if (status) status.textContent = "Copied.";
  });
}
`;

/** The default image for code and workspaces; sandbox/buildImage.sh makes it. */
export const sandboxImage = 'work-ledger-sandbox';

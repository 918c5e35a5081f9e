# One image for worker, webhook handler, codec server and sandbox: the command says which.
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Not npm ci: see tools/setup/packages.mjs.
RUN npm install --no-save --no-audit --no-fund
COPY . .
RUN node tools/build.mjs && node tools/image-manifest.mjs && npm prune --omit=dev --no-save --no-audit --no-fund

FROM node:20.20.2-bookworm-slim
# TLS to a Temporal cluster or to the payment service needs the usual certificate authorities.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node -m 0700 /var/lib/holdfast
WORKDIR /app
ENV NODE_ENV=production HOLDFAST_STATE_DIR=/var/lib/holdfast HOLDFAST_BIND_ADDRESS=0.0.0.0
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
VOLUME /var/lib/holdfast
CMD ["node", "dist/workers/worker.js"]

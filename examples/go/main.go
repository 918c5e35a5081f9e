// A small shop that is paid by Holdfast: it charges, holds and captures, subscribes, and is notified of what becomes of it.
//
//	POST /charges | /holds         {"reference", "amount", "currency", "token"}
//	POST /subscriptions            the same, and {"customer", "anchor", "timeZone"}
//	POST /payments/<reference>/<command>, /subscriptions/<reference>/<command>
//	                               {"commandId", ...}: capture, void; billNow, cancel
//	POST /notifications            for Holdfast alone: signed as Standard Webhooks says
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

var commands = map[string][]string{"payments": {"capture", "void"}, "subscriptions": {"billNow", "cancel"}}

type action func(ctx context.Context, body []byte) (json.RawMessage, error)

func (s *shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", taking(withOrder(func(ctx context.Context, o order) (json.RawMessage, error) {
		return s.pay(ctx, "charge", o)
	})))
	mux.HandleFunc("POST /holds", taking(withOrder(func(ctx context.Context, o order) (json.RawMessage, error) {
		return s.pay(ctx, "authorizeAndCapture", o)
	})))
	mux.HandleFunc("POST /subscriptions", taking(withOrder(s.subscribe)))
	mux.HandleFunc("POST /{kind}/{reference}/{command}", func(w http.ResponseWriter, r *http.Request) {
		kind, name := r.PathValue("kind"), r.PathValue("command")
		if !slices.Contains(commands[kind], name) {
			answer(w, 404, object{"error": "there is nothing at " + r.URL.Path})
			return
		}
		workflowID := strings.TrimSuffix(kind, "s") + "-" + r.PathValue("reference")
		taking(func(ctx context.Context, body []byte) (json.RawMessage, error) {
			return s.command(ctx, workflowID, name, body)
		})(w, r)
	})
	mux.HandleFunc("POST /notifications", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = s.receive(r.Header, body)
		}
		if err != nil {
			answer(w, 401, object{"error": err.Error()})
			return
		}
		answer(w, 200, object{})
	})
	return mux
}

func withOrder(do func(context.Context, order) (json.RawMessage, error)) action {
	return func(ctx context.Context, body []byte) (json.RawMessage, error) {
		var o order
		if err := json.Unmarshal(body, &o); err != nil {
			return nil, faultyRequest{err}
		}
		if o.Reference == "" || o.Currency == "" || o.Token == "" {
			return nil, faultyRequest{errors.New("reference, amount, currency and token are needed")}
		}
		return do(ctx, o)
	}
}

func taking(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), longest)
		defer cancel()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			err = faultyRequest{err}
		}
		var done json.RawMessage
		if err == nil {
			done, err = do(ctx, body)
		}
		if err != nil {
			status, content := statusOf(err)
			answer(w, status, content)
			return
		}
		var ended struct{ Status string }
		_ = json.Unmarshal(done, &ended)
		fmt.Println("answered", r.URL.Path, ended.Status)
		answer(w, 200, done)
	}
}

func answer(w http.ResponseWriter, status int, content any) {
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(content)
}

func main() {
	codec, err := newHoldfastCodec(os.Getenv("HOLDFAST_ENCRYPTION_KEYS"))
	must(err)
	encrypted := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec)
	// TEMPORAL_ADDRESS and the like, or the file that TEMPORAL_CONFIG_FILE names.
	options, err := envconfig.LoadDefaultClientOptions()
	must(err)
	options.DataConverter = encrypted
	options.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter:          encrypted,
		EncodeCommonAttributes: true,
	})
	connected, err := client.Dial(options)
	must(err)
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("HOLDFAST_NOTIFY_SECRET"))
	must(err)
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "8080"))
	must(err)
	url := cmp.Or(os.Getenv("SHOP_URL"), "http://"+listener.Addr().String())
	s := &shop{
		temporal:  connected,
		converter: encrypted,
		webhook:   webhook,
		notify:    object{"url": url + "/notifications"},
		notified:  map[string]bool{},
	}
	fmt.Println("ready", url)
	must(http.Serve(listener, s.handler()))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

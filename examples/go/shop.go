package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

const (
	waitFor = "10 seconds"
	// longest is how long a caller waits for an answer, whatever hangs.
	longest = 30 * time.Second
	// consentAmount is held for a moment when a card is put on file, and released.
	consentAmount = 6000
)

// refusals are the failures that say that what was asked for was refused. No other says anything of the money.
var refusals = []string{"InvalidInput", "ReferenceConflict", "NotFound", "StateConflict"}

type object = map[string]any

// order is what the shop's callers send. Customer, anchor and time zone are for subscriptions.
type order struct {
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"` // Minor units.
	Currency  string `json:"currency"`
	Token     string `json:"token"`
	Customer  string `json:"customer"`
	Anchor    string `json:"anchor"`
	TimeZone  string `json:"timeZone"`
}

// faultyRequest says what is wrong with a request before anything is started.
type faultyRequest struct{ error }

// conflict is a reference that was used for another input.
type conflict struct{ error }

type shop struct {
	temporal  client.Client
	converter converter.DataConverter
	webhook   *standardwebhooks.Webhook
	notify    object
	mutex     sync.Mutex
	notified  map[string]bool // Keep these in a database: an id comes again after a restart too.
}

// pay charges, or holds the money: flow is charge or authorizeAndCapture. Called again with the same order, it pays
// nothing more.
func (s *shop) pay(ctx context.Context, flow string, o order) (json.RawMessage, error) {
	payment := object{
		"reference":     o.Reference,
		"amount":        o.Amount,
		"currency":      o.Currency,
		"paymentMethod": object{"type": "tokenized", "token": o.Token},
		"notify":        s.notify,
	}
	asked := fingerprint(flow, o.Reference, o.Amount, o.Currency, "default", canonical(o.Token), nil)
	return s.ask(ctx, flow, "payment-"+o.Reference, "holdfast", payment, asked)
}

// subscribe puts the card on file with the buyer's consent, then bills it each month.
func (s *shop) subscribe(ctx context.Context, o order) (json.RawMessage, error) {
	consent := o.Reference + "-card"
	card := object{
		"reference":     consent,
		"amount":        consentAmount,
		"currency":      o.Currency,
		"paymentMethod": object{"type": "tokenized", "token": o.Token},
		"customer":      object{"customerReference": o.Customer},
	}
	token := canonical(o.Token)
	asked := fingerprint("storeCard", consent, consentAmount, o.Currency, "default", token, canonical(o.Customer))
	answer, err := s.ask(ctx, "storeCard", "payment-"+consent, "holdfast", card, asked)
	if err != nil {
		return nil, err
	}
	var stored struct{ Status, CustomerID, Token, ConsentTransactionID string }
	if err := json.Unmarshal(answer, &stored); err != nil || stored.Status != "stored" {
		return answer, err
	}
	subscription := object{
		"reference":  o.Reference,
		"customerId": stored.CustomerID,
		"token":      stored.Token,
		"amount":     o.Amount,
		"currency":   o.Currency,
		"interval":   object{"every": 1, "unit": "month"},
		"anchor":     o.Anchor, // The day of the first bill, in that time zone.
		"timeZone":   o.TimeZone,
		"notify":     s.notify,
	}
	if stored.ConsentTransactionID != "" {
		subscription["consentTransactionId"] = stored.ConsentTransactionID
	}
	// What is not given above: billAt, trialDays, periods, endsOn, jitter, missedPeriods and dunning.
	plan := []any{1, "month", o.Anchor, o.TimeZone, "10:00", 0, nil, nil, 3_600_000, nil, nil, nil, nil, nil}
	token, customer := canonical(stored.Token), canonical(stored.CustomerID)
	asked = fingerprint("subscription", o.Reference, o.Amount, o.Currency, "default", token, customer, plan)
	return s.ask(ctx, "subscription", "subscription-"+o.Reference, "holdfast-billing", subscription, asked)
}

// ask starts a flow, or joins the one that is there, and waits for its outcome.
func (s *shop) ask(
	ctx context.Context, flow, workflowID, queue string, startWith object, asked string,
) (json.RawMessage, error) {
	options := client.StartWorkflowOptions{
		ID:        workflowID,
		TaskQueue: queue,
		// Also after its end: this is what keeps a reference from being charged twice. The SDK returns the flow that is
		// there, and no error.
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
	}
	if _, err := s.temporal.ExecuteWorkflow(ctx, options, flow, startWith); err != nil {
		return nil, err
	}
	request := object{"type": flow, "fingerprint": asked, "waitFor": waitFor}
	// A fresh id for every call: for a known one the server repeats an answer that is old by now.
	answer, err := s.update(ctx, workflowID, "outcome", uuid.NewString(), request)
	if !isNotFound(err) {
		return answer, err
	}
	// It has ended, or ends just now.
	described, err := s.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return nil, err
	}
	// A flow that was refused at once has none, and fails below with the reason.
	if memo, has := described.WorkflowExecutionInfo.GetMemo().GetFields()["holdfastFingerprint"]; has {
		var theirs string
		if err := s.converter.FromPayload(memo, &theirs); err != nil {
			return nil, err
		}
		if theirs != asked {
			return nil, conflict{fmt.Errorf("%s was used for another input", workflowID)}
		}
	}
	err = s.temporal.GetWorkflow(ctx, workflowID, "").Get(ctx, &answer)
	return answer, err
}

// command gives a flow a command. Repeated with the same commandId, it is carried out once, and answered as before: after
// the flow's end too if it ended in the run that took the command. After an end in a later one it is answered 404, and
// the flow's result says what was done.
func (s *shop) command(ctx context.Context, workflowID, name string, body []byte) (json.RawMessage, error) {
	var given struct{ CommandID string }
	if err := json.Unmarshal(body, &given); err != nil {
		return nil, faultyRequest{err}
	}
	if given.CommandID == "" {
		return nil, faultyRequest{errors.New("commandId is missing")}
	}
	described, err := s.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return nil, err
	}
	// The server repeats its answer to an id that it knows. A reset fails where two runs have accepted the same one.
	run := described.WorkflowExecutionInfo.Execution.RunId
	updateID := given.CommandID + ":" + fingerprint(name, json.RawMessage(body))[:16] + ":" + run
	// To the run that is there by now, which may be the next one.
	return s.update(ctx, workflowID, name, updateID, json.RawMessage(body))
}

func (s *shop) update(ctx context.Context, workflowID, name, id string, request any) (json.RawMessage, error) {
	handle, err := s.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   workflowID,
		UpdateName:   name,
		UpdateID:     id,
		Args:         []any{request},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return nil, err
	}
	var answer json.RawMessage
	err = handle.Get(ctx, &answer)
	return answer, err
}

// receive takes a notification, which may come more than once, and out of order.
func (s *shop) receive(headers http.Header, body []byte) error {
	if err := s.webhook.Verify(body, headers); err != nil {
		return err
	}
	var told struct {
		ID, Type string
		Data     struct{ Reference, Subscription string }
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.notified[told.ID] {
		return nil
	}
	s.notified[told.ID] = true
	fmt.Println("notified", told.Type, told.Data.Reference+told.Data.Subscription)
	return nil
}

var uuidForm = regexp.MustCompile("^[0-9A-Fa-f-]{36}$")

// canonical returns a UUID, which may be written in capitals, in lower case, and other ids as they are.
func canonical(id string) string {
	if uuidForm.MatchString(id) {
		return strings.ToLower(id)
	}
	return id
}

// fingerprint says what a request is about: a reference that is used for something else is refused by it.
func fingerprint(parts ...any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // Holdfast writes <, > and & as they are.
	if err := encoder.Encode(parts); err != nil {
		panic(err)
	}
	sum := sha256.Sum256(bytes.TrimSpace(text.Bytes()))
	return hex.EncodeToString(sum[:])
}

func isNotFound(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

var lostUpdate = regexp.MustCompile("(?i)^update .* not found")

// isLost says whether a run that ended, or went on in another just then, has lost the update: that is not found, and the
// flow is there.
func isLost(err error) bool {
	return isNotFound(err) && lostUpdate.MatchString(err.Error())
}

// statusOf says how an error is answered.
func statusOf(err error) (int, object) {
	var faulty faultyRequest
	var other conflict
	var refused *temporal.ApplicationError
	switch {
	case errors.As(err, &faulty):
		return 400, object{"error": "the request is not as it should be: " + err.Error()}
	case errors.As(err, &other):
		return 422, object{"error": "ReferenceConflict", "message": err.Error()}
	case errors.As(err, &refused) && slices.Contains(refusals, refused.Type()):
		return 422, object{"error": refused.Type(), "message": refused.Message()}
	case isNotFound(err) && !isLost(err):
		return 404, object{"error": "no flow takes this now; if one has ended, its result says what was done"}
	}
	// Money may have moved: never ask again with a new reference. A run may have ended under the question, as in a reset:
	// the next one has the answer.
	return 503, object{"error": "not known yet: ask again with the same reference and commandId", "message": err.Error()}
}

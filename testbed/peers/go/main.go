// A small JSON API on net/http, as ordinary as an application under test can be. The contract is in ../README.md;
// the Node peer keeps the same one. It prints `listening on ADDRESS:PORT` and ends when its stdin does.
package main

import (
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

type object map[string]any

type server struct {
	sync.Mutex
	connections, requests, logins, refused, uploads int
	tokens                                          map[string]object
	sessions                                        map[string]int
	items                                           []object
}

type handler func(*server, http.ResponseWriter, *http.Request) error

var routes = map[string]handler{
	"GET /":           func(_ *server, w http.ResponseWriter, _ *http.Request) error { return text(w, "ok\n") },
	"GET /stats":      (*server).stats,
	"POST /login":     (*server).login,
	"GET /me":         (*server).me,
	"GET /items":      (*server).list,
	"POST /items":     (*server).add,
	"POST /upload":    (*server).upload,
	"GET /session":    (*server).session,
	"GET /redirect":   (*server).redirect,
	"GET /compressed": (*server).compressed,
}

func main() {
	peer := &server{tokens: map[string]object{}, sessions: map[string]int{}}
	for id := 1; id <= 3; id++ {
		peer.items = append(peer.items, object{"id": id, "name": fmt.Sprint("item ", id), "price": id * 10})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the end of it is all that matters
		os.Exit(0)
	}()
	count := func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			peer.Lock()
			peer.connections++
			peer.Unlock()
		}
	}
	fmt.Fprintln(os.Stderr, (&http.Server{Handler: peer, ConnState: count}).Serve(listener))
	os.Exit(1)
}

// One request at a time: correctness is asked for here, not speed.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	if r.URL.Path != "/stats" {
		s.requests++
	}
	if route, known := routes[r.Method+" "+r.URL.Path]; known {
		if err := route(s, w, r); err != nil {
			_ = answer(w, http.StatusBadRequest, object{"error": err.Error()})
		}
		return
	}
	id, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/items/"))
	if r.Method == http.MethodGet && err == nil && id >= 1 && id <= len(s.items) {
		_ = answer(w, http.StatusOK, s.items[id-1])
		return
	}
	_ = answer(w, http.StatusNotFound, object{"error": "no such place"})
}

func answer(w http.ResponseWriter, status int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(body)
	return err
}

func text(w http.ResponseWriter, body string) error {
	_, err := io.WriteString(w, body)
	return err
}

func (s *server) refuse(w http.ResponseWriter) error {
	s.refused++
	w.Header().Set("WWW-Authenticate", "Bearer")
	return answer(w, http.StatusUnauthorized, object{"error": "not logged in"})
}

func (s *server) user(r *http.Request) object {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return nil
	}
	return s.tokens[token]
}

func (s *server) stats(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, object{"connections": s.connections, "requests": s.requests,
		"logins": s.logins, "refused": s.refused, "uploads": s.uploads})
}

func (s *server) login(w http.ResponseWriter, r *http.Request) error {
	given := map[string]string{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		if err := json.NewDecoder(r.Body).Decode(&given); err != nil {
			return err
		}
	} else {
		given["user"], given["password"] = r.PostFormValue("user"), r.PostFormValue("password")
	}
	if given["password"] != "secret" {
		return s.refuse(w)
	}
	s.logins++
	token := random(16)
	user := object{"id": s.logins, "name": given["user"]}
	s.tokens[token] = user
	return answer(w, http.StatusOK, object{"token": token, "user": user})
}

func (s *server) me(w http.ResponseWriter, r *http.Request) error {
	if user := s.user(r); user != nil {
		return answer(w, http.StatusOK, object{"user": user})
	}
	return s.refuse(w)
}

func (s *server) list(w http.ResponseWriter, r *http.Request) error {
	limit := len(s.items)
	if given, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && given < limit {
		limit = given
	}
	return answer(w, http.StatusOK, object{"items": s.items[:limit], "total": len(s.items)})
}

func (s *server) add(w http.ResponseWriter, r *http.Request) error {
	if s.user(r) == nil {
		return s.refuse(w)
	}
	item := object{}
	if err := json.NewDecoder(r.Body).Decode(&item); err != nil {
		return err
	}
	item["id"] = len(s.items) + 1
	s.items = append(s.items, item)
	w.Header().Set("Location", fmt.Sprint("/items/", len(s.items)))
	return answer(w, http.StatusCreated, item)
}

// What mime/multipart makes of the body.
func (s *server) upload(w http.ResponseWriter, r *http.Request) error {
	s.uploads++
	reader, err := r.MultipartReader()
	if err != nil {
		return err
	}
	parts := []object{}
	for {
		part, err := reader.NextPart()
		if err == io.EOF {
			return answer(w, http.StatusOK, object{"parts": parts})
		}
		if err != nil {
			return err
		}
		hash := sha256.New()
		length, err := io.Copy(hash, part)
		if err != nil {
			return err
		}
		parts = append(parts, object{"name": part.FormName(), "filename": part.FileName(), "bytes": length,
			"sha256": hex.EncodeToString(hash.Sum(nil))})
	}
}

func (s *server) session(w http.ResponseWriter, r *http.Request) error {
	sid := ""
	if given, err := r.Cookie("sid"); err == nil && s.sessions[given.Value] > 0 {
		sid = given.Value
	} else {
		sid = random(8)
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: sid, Path: "/", HttpOnly: true})
	}
	s.sessions[sid]++
	return answer(w, http.StatusOK, object{"count": s.sessions[sid]})
}

func (s *server) redirect(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	status, err := strconv.Atoi(query.Get("status"))
	if err != nil {
		status = http.StatusFound
	}
	to := query.Get("to")
	if to == "" {
		to = "/"
	}
	w.Header().Set("Location", to)
	w.WriteHeader(status)
	return nil
}

func (s *server) compressed(w http.ResponseWriter, r *http.Request) error {
	plain := strings.Repeat("a line that repeats\n", 1000)
	w.Header().Set("Content-Type", "text/plain")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return text(w, plain)
	}
	w.Header().Set("Content-Encoding", "gzip")
	writer := gzip.NewWriter(w)
	if _, err := io.WriteString(writer, plain); err != nil {
		return err
	}
	return writer.Close()
}

func random(bytes int) string {
	word := make([]byte, bytes)
	if _, err := rand.Read(word); err != nil {
		panic(err) // the machine has no randomness: nothing here can work
	}
	return hex.EncodeToString(word)
}

import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@Suite("What kind of thing went wrong with a peer") struct PeerErrorTests {
  private static let kinds: [(PeerError, PeerError.Category)] = [
    (.unreachable(endpoint: "x", reason: "y"), .unreachable), (.notHpeer(endpoint: "x", detail: "y"), .unreachable),
    (.handshakeFailed(endpoint: "x", reason: "y"), .unreachable), (.silent(endpoint: "x", seconds: 1), .interrupted),
    (.tooSlow(endpoint: "x", seconds: 1), .interrupted), (.connectionLost(endpoint: "x"), .interrupted),
    (.tokenRefused(peer: "x"), .refused), (.notPaired(peer: "x"), .refused), (.confirmationFailed, .refused),
    (.pairing(.wrongCode(attemptsLeft: 2)), .refused), (.pairing(.windowLocked), .refused),
    (.pairing(.tooManySessions), .temporary), (.pairing(.temporary), .temporary), (.busy(retryAfter: nil), .temporary),
    (.tokenGone, .temporary), (.personNotCompared(peer: "x"), .anotherPerson), (.feed(.cutOff), .failing),
    (.feed(.server("x")), .failing), (.unexpectedAnswer(status: 500, message: "x"), .failing),
    (.unexpectedAnswer(status: 404, message: "x"), .malformed), (.feed(.noProgress), .malformed),
    (.feed(.malformedBatch(1)), .malformed),
  ]

  @Test("each has a kind, and time mends only what nobody has to do anything about")
  func kinds() {
    for (error, category) in Self.kinds { #expect(error.category == category, "\(error)") }
    let mended = Set(Self.kinds.map(\.1).filter(\.mayPass))
    #expect(mended == [.unreachable, .interrupted, .temporary, .failing])
  }
}

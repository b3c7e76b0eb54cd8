import Foundation
import HealthFormats
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// Answers of calendars that Radicale does not give.
@Suite(.timeLimit(.minutes(5)))
struct CalendarCollectionTests {
  /// - Parameter status: the answer to MKCALENDAR, which comes too late; `nil` where it is made before that is sent.
  @Test("a calendar that another program makes at the same moment is written to", arguments: [nil, 405, 409])
  func madeMeanwhile(_ status: Int?) async throws {
    let isMade = Mutex(false)
    let endpoint = try RawEndpoint { exchange in
      let wasMade = isMade.withLock(\.self)
      switch exchange.request.method {
      case "PUT":
        if status == nil { isMade.withLock { $0 = true } }
        return exchange.answer(wasMade ? 201 : 409)
      case "PROPFIND": return exchange.answer(wasMade ? 207 : 404)
      default:
        isMade.withLock { $0 = true }
        return exchange.answer(status ?? 405)
      }
    }
    let service = try HTTPServiceTests.service(endpoint.url)
    let calendar = CalendarCollection(service, url: endpoint.url, authorization: [], displayName: "Health")
    let time = Timestamp(seconds: 1_718_447_400)
    let event = CalendarEvent(
      uid: "a", stamp: time, time: .instants(start: time, end: time), summary: "Run", category: "Workout")
    #expect(try await calendar.put(event, named: CalendarCollection.name("a")) == .done)
    #expect(endpoint.requests.last?.method == "PUT")
    await service.close()
  }
}

import Synchronization

@testable import Destinations

/// An object store behind a proxy that sends a request twice and forwards the second answer, or that loses an answer.
final class CarelessWire: ObjectStore {
  private let store: MemoryObjectStore
  private let sendsTwice: Bool
  /// The number of the request whose answer is lost, starting at 0.
  private let lost: Int?
  private let count = Mutex(0)

  var requests: Int { count.withLock(\.self) }

  init(to store: MemoryObjectStore, sendsTwice: Bool = false, losing lost: Int? = nil) {
    (self.store, self.sendsTwice, self.lost) = (store, sendsTwice, lost)
  }

  private func send<Answer>(_ request: () throws -> Answer) throws -> Answer {
    let number = count.withLock { count in
      defer { count += 1 }
      return count
    }
    if sendsTwice { _ = try? request() }
    let answer = Result(catching: request)
    if number == lost { throw DeliveryError.temporary(reason: "lost") }
    return try answer.get()
  }

  func get(_ name: String, limit: Int) throws -> StoredObject? { try send { try store.get(name, limit: limit) } }

  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) throws {
    try send { try store.put(bytes, at: name, contentType: contentType, if: condition) }
  }

  func delete(_ name: String) throws { try send { store.delete(name) } }
}

import NIOCore
import NIOHTTP1
import PeerProtocol

/// The batches of one answer of the change feed, as they arrive.
struct IncomingFeed {
  /// In bytes. A token goes into a URL.
  private static let maximumToken = 1_000

  private let connection: PeerConnection
  private var decoder: ChangeFeedDecoder
  private var decoded: ArraySlice<ChangeFeedBatch> = []

  /// Throws ``PeerError/unexpectedAnswer(status:message:)`` for an answer in neither format.
  init(_ connection: PeerConnection, _ head: HTTPResponseHead) throws {
    let type = head.headers.first(name: "Content-Type")
    guard let format = ChangeFeedFormat(contentType: type) else {
      throw PeerError.unexpectedAnswer(
        status: Int(head.status.code), message: "no change feed, but \(type ?? "nothing")")
    }
    self.connection = connection
    decoder = ChangeFeedDecoder(format)
  }

  /// The next batch, or `nil` at the end of the answer.
  mutating func next() async throws -> ChangeFeedBatch? {
    while decoded.isEmpty {
      guard let part = try await connection.nextBodyPart() else {
        guard decoder.isBetweenBatches else { throw PeerError.feed(.cutOff) }
        return nil
      }
      try Task.checkCancellation()
      do {
        decoded = try part.withUnsafeReadableBytes { bytes throws(ChangeFeedError) in try decoder.decode(bytes) }[...]
      } catch {
        throw PeerError.feed(error)
      }
    }
    let batch = decoded.removeFirst()
    guard !batch.token.isEmpty, batch.token.utf8.count <= Self.maximumToken else {
      throw PeerError.unexpectedAnswer(status: 200, message: "a change token of \(batch.token.utf8.count) bytes")
    }
    return batch
  }

  /// ``next()``, its error as a value: what came before it is to be saved first.
  mutating func arrival() async -> Result<ChangeFeedBatch?, any Error> {
    do {
      return .success(try await next())
    } catch {
      return .failure(error)
    }
  }
}

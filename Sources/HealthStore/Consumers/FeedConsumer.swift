import Foundation
import GRDB
import HealthModel

/// A consumer on this machine that reads a store's changes and passes them on, and whose position the store keeps: a
/// destination, a statistic, an index. Created by ``HealthStore/consumer(_:filter:whenNarrowed:receipt:owedAs:)``.
///
/// ```swift
/// func printRoutes(of store: HealthStore) async throws {
///   let consumer = try await store.consumer("printer", filter: SampleFilter(types: [.workoutRoute]))
///   for try await page in consumer.pages() {
///     if page.startsOver { print("forget everything") }
///     for tombstone in page.deletions { print("-", tombstone.sample.uuid) }
///     for sample in try page.additions() { print("+", sample.uuid) }
///     try await consumer.commit(page)
///   }
/// }
/// ```
///
/// A page that was not committed comes again, perhaps with other bounds: process pages idempotently, or request
/// repeatable pages and recognise them by their keys. Committed changes do not come again, whatever happens to the
/// filter or the process, unless a page says that everything starts over.
///
/// If the store's file is replaced by an older copy, the consumer's position goes back too, and nothing in the file
/// shows that. To detect it, save ``ConsumerPage/receipt`` at the destination before each commit, and pass it to the
/// next ``HealthStore/consumer(_:filter:whenNarrowed:receipt:owedAs:)``.
///
/// A consumer receives the deletion of every sample that it has, even if its filter excludes that sample by now. It
/// may also receive deletions of samples that it never had.
///
/// One process at a time may work for a name: if there are two, ``commit(_:)`` of the later one throws
/// ``StoreError/consumerChanged(name:)``.
public struct FeedConsumer: Sendable {
  /// The default maximum number of changes in a page.
  public static let defaultPageSize = 2_000
  /// The number of excluded changes that may be read again, to avoid a commit for each.
  private static let tolerableRepetition: Int64 = 5_000

  /// The name that the owner chose, unique in the store.
  public let name: String
  /// The filter of the consumer. Once the store has another filter for this name, this object's pages and commits
  /// throw ``StoreError/consumerChanged(name:)``.
  public let filter: SampleFilter
  /// Whether the consumer was created with this object.
  public let isNew: Bool
  let store: HealthStore

  /// Returns the pages that were not committed yet, up to the current position. The sequence throws ``StoreError``,
  /// and ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - size: the maximum number of changes in a page.
  ///   - repeatable: whether to save each page before it is handed out, which costs another commit. A page that was
  ///     not committed comes again under the same ``ConsumerPage/key``, with the same changes except for those that
  ///     are gone since.
  public func pages(ofAtMost size: Int = defaultPageSize, repeatable: Bool = false) -> ConsumerPages {
    ConsumerPages(consumer: self, size: size, follows: false, isRepeatable: repeatable)
  }

  /// Returns the pages that were not committed yet, and then new ones as changes happen in any process of this
  /// machine. The sequence throws ``StoreError``, and ends when its task is cancelled.
  ///
  /// - Parameters: see ``pages(ofAtMost:repeatable:)``.
  public func following(ofAtMost size: Int = defaultPageSize, repeatable: Bool = false) -> ConsumerPages {
    ConsumerPages(consumer: self, size: size, follows: true, isRepeatable: repeatable)
  }

  /// Records that a page was processed completely and passed on permanently.
  ///
  /// - Throws: ``StoreError/consumerChanged(name:)`` if the page is not the consumer's next one any more: it was
  ///   committed before, the consumer was removed, its filter has changed, or an import was undone. Request the next
  ///   page then.
  public func commit(_ page: ConsumerPage) async throws(StoreError) {
    guard page.consumer == name, page.store == store.id else { throw .consumerChanged(name: name) }
    _ = try await replace(page.revision, with: page.state)
  }

  /// Replaces the consumer's state.
  ///
  /// - Parameter revision: the revision that the new state is based on.
  /// - Returns: the new revision.
  private func replace(_ revision: Int64, with state: ConsumerState) async throws(StoreError) -> Int64 {
    try await store.write { [name] db in
      guard let next = try ConsumerRow.replace(revision, with: state, of: name, db) else {
        throw StoreError.consumerChanged(name: name)
      }
      return next
    }
  }

  // MARK: Reading ahead

  /// Reads the page after one that is not committed yet, while that one is being processed.
  ///
  /// - Parameter size: the maximum number of changes in a page.
  /// - Returns: the page for ``commit(_:handingOut:)``, or `nil` if nothing is left or everything starts over.
  public func ahead(
    of page: ConsumerPage, ofAtMost size: Int = defaultPageSize
  ) async throws(StoreError) -> PageAhead? {
    let read = try await store.read { [epochs = store.epochs] db in
      var reader = ConsumerReader(page.state, db, epochs)
      return try reader.page(limit: max(1, size))
    }
    guard read.part != nil, read.before == page.state else { return nil }
    return PageAhead(read: read)
  }

  /// Commits a page as ``commit(_:)`` does, and in the same transaction hands out the next one, which is repeatable.
  ///
  /// - Parameter ahead: the result of ``ahead(of:ofAtMost:)`` for the page.
  /// - Throws: see ``commit(_:)``. In that case nothing was handed out.
  public func commit(
    _ page: ConsumerPage, handingOut ahead: PageAhead
  ) async throws(StoreError) -> ConsumerPage {
    guard page.consumer == name, page.store == store.id, let part = ahead.read.part, ahead.read.before == page.state
    else { throw .consumerChanged(name: name) }
    let key = UInt64.random(in: 1 ... .max)
    let state = page.state.handingOut(key, part, after: ahead.read.after)
    let revision = try await replace(page.revision, with: state)
    return ConsumerPage(consumer: name, store: store.id, revision: revision, key: key, ahead.read)
  }

  // MARK: The next page

  /// Returns the first page that was not committed, or the store's position if there is none.
  func next(_ pages: ConsumerPages) async throws(StoreError) -> Next {
    let (name, filter, size) = (name, filter, max(1, pages.size))
    let (row, read) = try await store.read { [epochs = store.epochs] db in
      guard let row = try ConsumerRow.fetch(name, db), row.state.filter == filter else {
        throw StoreError.consumerChanged(name: name)
      }
      var reader = ConsumerReader(row.state, db, epochs)
      return (row, try reader.page(limit: size))
    }
    guard read.part != nil || read.after.isReset else {
      let passed = read.after.position - row.state.position
      if read.after != row.state, !pages.follows || passed > Self.tolerableRepetition {
        // If another process was faster, this part is read again.
        try await store.write { db in _ = try ConsumerRow.replace(row.revision, with: read.after, of: name, db) }
      }
      return .nothing(Anchor(change: read.after.position))
    }
    let key = read.before.inHand?.page ?? .random(in: 1 ... .max)
    var revision = row.revision
    if let part = read.part, pages.isRepeatable || ConsumerState.mustNote(part), read.before.inHand == nil {
      revision = try await replace(row.revision, with: read.before.handingOut(key, part, after: read.after))
    }
    return .page(ConsumerPage(consumer: name, store: store.id, revision: revision, key: key, read))
  }

  enum Next {
    case page(ConsumerPage)
    /// No changes that the consumer wants, and the store's position.
    case nothing(Anchor)
  }
}

/// A page of changes for a ``FeedConsumer``, in no order. Process the deletions first.
public struct ConsumerPage: Sendable {
  let consumer: String
  let store: UUID
  /// The revision of the consumer before the page.
  let revision: Int64
  /// The state of the consumer after the page.
  let state: ConsumerState
  /// The key of the page. A repeatable page keeps its key when it comes again; any other page gets a new one.
  public let key: UInt64
  /// The receipt to save at the destination, for comparison with the store.
  public let receipt: ConsumerReceipt
  /// The changes in their stored form, which is fastest to pass on. Empty on a first page that only announces a new
  /// start, and on a repeated page whose changes are all gone.
  public let changes: CodedChanges
  /// Whether everything starts over: discard the content of all earlier pages, because it is unknown what is still in
  /// the record. The record comes again, beginning with this page.
  public let startsOver: Bool
  /// Whether nothing else was left when the page was read.
  public let isLast: Bool

  init(consumer: String, store: UUID, revision: Int64, key: UInt64, _ read: ConsumerReader.Page) {
    (self.consumer, self.store, self.revision, self.key) = (consumer, store, revision, key)
    (changes, isLast, startsOver) = (read.changes, read.isLast, read.before.isReset)
    receipt = ConsumerReceipt(
      previous: read.before.page, page: key, position: read.after.position, epoch: read.after.epoch)
    var state = read.after
    state.finish(page: key)
    self.state = state
  }

  /// The samples to delete, possibly including some that were never delivered.
  public var deletions: [Tombstone] { changes.tombstones.map(changes.tombstone) }

  /// Returns the samples to add. A sample replaces an earlier one with the same reference.
  ///
  /// - Throws: `DecodingError` if the store is damaged.
  public func additions() throws -> [Sample] {
    let expander = try ChangeExpander(changes)
    return try changes.samples.map(expander.sample)
  }
}

/// The page after a ``ConsumerPage``, read before that page is committed.
public struct PageAhead: Sendable {
  let read: ConsumerReader.Page
}

/// A record of a ``FeedConsumer``'s last page and of the store's position at that time.
public struct ConsumerReceipt: Hashable, Sendable, Codable {
  let previous: UInt64
  let page: UInt64
  let position: Int64
  let epoch: Epoch?

  /// Returns whether the consumer continues from the receipt's page. The page may be uncommitted, if its changes are
  /// still those of the store.
  func isCurrent(_ state: ConsumerState, _ db: Database) throws -> Bool {
    if state.page == page { return true }
    guard state.page == previous else { return false }
    return try epoch?.covers(position, db) ?? true
  }
}

/// The pages of a ``FeedConsumer``. A page that is not committed before the next is requested comes again.
public struct ConsumerPages: AsyncSequence, Sendable {
  let consumer: FeedConsumer
  let size: Int
  let follows: Bool
  let isRepeatable: Bool

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(pages: self)
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    let pages: ConsumerPages

    public mutating func next() async throws -> ConsumerPage? {
      do {
        while !Task.isCancelled {
          switch try await pages.consumer.next(pages) {
          case .page(let page): return page
          case .nothing where !pages.follows: return nil
          case .nothing(let anchor): try await pages.consumer.store.feed.waitForChanges(after: anchor)
          }
        }
        return nil
      } catch  where Task.isCancelled {
        // A cancelled read throws an error of the store.
        return nil
      }
    }
  }
}

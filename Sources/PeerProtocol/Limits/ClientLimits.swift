import HealthModel

/// What another machine's answers may take of this one: memory, time and requests in vain.
///
/// A server may be hostile, paired or merely announced, so nothing here depends on good will: every buffer and every wait
/// that an answer can cause ends at one of these numbers, where the memory is taken. Together they keep a client within
/// 160 MiB. The twin of `ServingLimits`, which bounds what a client may take of a server.
public struct ClientLimits: Hashable, Sendable {
  // MARK: Any answer

  /// Bytes of an answer that are not its body: status lines and header fields, also of 1xx responses, chunk sizes, chunk
  /// extensions and trailer fields (RFC 9112).
  public var framingBytes = 64 * 1024
  /// So many more for each byte of the body; a body in chunks of one byte has five.
  public var framingPerBodyByte = 8
  /// Bytes of a body that is a message or says what failed. hpeer's have some hundred.
  public var bodyBytes = 256 * 1024
  /// Unicode scalars of a message that a server wrote.
  public var messageLength = 200

  // MARK: The change feed

  /// Bytes of one batch in columns as it travels. hpeer's have one at most.
  public var frameBytes = 28 << 20
  /// Bytes of a batch when it is decompressed, or of its lines. hpeer's have at most some six million and the one sample
  /// that exceeds them; the longest that an import makes of Apple's exports are parts of routes, with some fifteen million.
  public var batchBytes = 28 << 20
  /// Bytes of a batch that may always be decompressed; of more, at most ``expansion`` for each byte that travelled.
  public var freelyExpandedBytes = 8 << 20
  /// hpeer's largest batches have some ten.
  public var expansion = 100
  /// Samples and tombstones of a batch. hpeer sends at most 5,000.
  public var batchChanges = 50_000
  /// Entries of each dictionary of a batch.
  public var dictionaryEntries = 20_000
  /// Bytes of all dictionaries of a batch.
  public var dictionaryBytes = 8 << 20
  /// Of a line: a route of 100,000 points, each number with all its digits, has fourteen million bytes.
  public var line = JSONBudget(bytes: 20 << 20, weight: 3_400_000, depth: 132)
  /// Of a JSON text that is no route or electrocardiogram in columns.
  public var json = JSONBudget.payload
  /// Of one that is.
  public var columns = JSONBudget.columns
  /// Bytes of a change token, which goes into a URL.
  public var tokenBytes = 1_000
  /// Batches that are read while the ones before them are written.
  public var batchesAhead = 4
  /// Bytes of the batches that are written and read ahead, but for one larger batch.
  public var bytesAhead = 8 << 20

  // MARK: The digest

  /// Of a digest: some twenty thousand months of types, as many as a hundred types have in eighteen years.
  public var digest = JSONBudget(bytes: 6 << 20, weight: 2_000_000)

  // MARK: Progress

  /// What must arrive, encryption included, within twice the limit on silence of waiting: far less than on the worst
  /// network that still serves anybody.
  public var leastBytes = 16_384
  /// Waiting for one batch in all.
  public var batchTime = Duration.seconds(1_800)
  /// Changes of one pull that may be here already beyond twice the number of those that the store holds: a feed has each
  /// change once.
  public var repeatedChanges = 1_000
  /// How often, over one connection, a server may say that it is still at work on a digest.
  public var busyAnswers = 60
  /// How long it may have us wait each time.
  public var busyPause = Duration.seconds(5)

  /// The limits that `hpeer` itself has; tests set their own.
  public init() {}

  /// A message of another machine, truncated to ``messageLength`` Unicode scalars, of which a character may have any number.
  /// Not escaped.
  public func shortened(_ message: String) -> String {
    String(message.unicodeScalars.prefix(messageLength))
  }
}

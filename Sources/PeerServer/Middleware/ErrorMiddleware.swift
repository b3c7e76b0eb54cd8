import HTTPTypes
import HealthStore
import Hummingbird
import NIOHTTP1
import PeerProtocol
import PeerTrust

/// Error middleware: maps every error thrown below it to a documented response, so that nothing internal reaches the
/// caller.
struct ErrorMiddleware: RouterMiddleware {
  /// The methods of each path, so that a wrong method is told from a wrong path.
  let methods: [String: Set<HTTPRequest.Method>]

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      let answer = try answer(to: request, error, context)
      // A body after the head of a HEAD answer would be taken for the next answer.
      return request.method == .head ? answer.createHeadResponse() : answer
    }
  }

  private func answer(to request: Request, _ error: any Error, _ context: PeerRequestContext) throws -> Response {
    switch error {
    case let failure as ServerFailure: return failure.response()
    case let rejection as PairRejection:
      return JSONAnswer.response(PairErrorBody(rejection), status: .init(code: rejection.httpStatus))
    case let error as HTTPError: return notHandled(request, error).response()
    case let error as any HTTPResponseError: return notHandled(request, HTTPError(error.status)).response()
    // Hummingbird answers the first with 400 and ends the connection in both cases.
    case is HTTPParserError, is CancellationError: throw error
    case is StoreError, is PeerRegistryError:
      // A cancelled read comes back as an error of the store.
      try Task.checkCancellation()
      context.logger.error("store", metadata: ["error": "\(error)"])
      return ServerFailure(
        status: .serviceUnavailable, message: "The store cannot answer right now.", headers: [.retryAfter: "5"]
      ).response()
    default:
      context.logger.error("request", metadata: ["error": "\(error)"])
      return ServerFailure(status: .internalServerError, message: "Internal error").response()
    }
  }

  private func notHandled(_ request: Request, _ error: HTTPError) -> ServerFailure {
    switch error.status {
    case .notFound:
      if let allowed = methods[request.uri.path], !allowed.contains(request.method) {
        let list = allowed.map(\.rawValue).sorted().joined(separator: ", ")
        return ServerFailure(status: .methodNotAllowed, message: "Method Not Allowed", headers: [.allow: list])
      }
      return ServerFailure(status: .notFound, message: "Not Found")
    case .contentTooLarge:
      return ServerFailure(status: .contentTooLarge, message: "Request body too large")
    default:
      return ServerFailure(status: error.status, message: error.status.reasonPhrase)
    }
  }
}

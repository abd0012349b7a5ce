//! `POST /sale`: changes a moment's sale. Missing fields keep their onchain values.

use moments::update_sale::UpdateSaleRequest;
use shared::{
    api::transact::TransactionService,
    chain::protocol::permission::Permission,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Creation, MomentEdit, SaleEdit, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateSale>().await
}

struct UpdateSale {
    service: TransactionService,
}

impl Endpoint for UpdateSale {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let UpdateSaleRequest { moment, change } = request.json()?.read_for(&self.service)?;
        self.service
            .transact(request, caller, moment.chain, Creation::Nothing, async |session| {
                session.require(&moment, Permission::Sales).await?;
                let edit = SaleEdit::from(change);
                session.note_sale(&moment, edit.funds_recipient);
                Ok(moment.update(MomentEdit::Sale(edit)))
            })
            .await
    }
}
